# builds.sh - real programs built from Debian's sources, for truth.sh and the benchmark. They are kept: building takes minutes.
#
# Read it with RECORDER and LONG (this folder) set; build_NAME puts $bin/NAME there.
built=${RECORDER%/*}/build/truth
bin=$built/bin
mkdir -p "$bin"

# source NAME: Debian's source package, unpacked; prints where. No file of this machine's apt is changed.
source_of() {
	local folder
	[ -d "$built/$1" ] || (
		rm -rf "$built/apt" && mkdir -p "$built/apt/lists" "$built/$1.new" && cd "$built/$1.new" || exit 1
		sed 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' /etc/apt/sources.list.d/debian.sources > ../apt/src.sources
		sources=(-q -o Dir::Etc::sourcelist="$built/apt/src.sources" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$built/apt/lists")
		apt-get "${sources[@]}" update && apt-get "${sources[@]}" source "$1" && mv "$built/$1.new" "$built/$1"
	) >&2 || return
	folder=$(find "$built/$1" -mindepth 1 -maxdepth 1 -type d)
	echo "$folder"
}

# build_lua [NAME FLAG...]
build_lua() {
	local from name=${1-lua}
	from=$(source_of lua5.4)/src || return
	[ -f "$from/lua.c" ] || return
	# Debian's build makes the header; without a seed of ours it is the time.
	(cd "$from" && echo '#define DEB_HOST_MULTIARCH ""' > lua5.4-deb-multiarch.h && gcc -I. -O2 -g "${@:2}" -DLUA_USE_LINUX -D'luai_makeseed(L)=1u' -o "$bin/$name" $(ls ./*.c | grep -v luac.c) -lm -ldl) >&2
}

# build_sqlite3 [NAME FLAG...]
build_sqlite3() {
	local from name=${1-sqlite3}
	from=$(source_of sqlite3) && [ -n "$from" ] || return
	(cd "$from" && ./configure -q && make -s sqlite3.c shell.c &&
	 gcc -O2 -g "${@:2}" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o "$bin/$name" sqlite3.c shell.c -lm) >&2
}

build_git() {
	local from
	from=$(source_of git) && [ -n "$from" ] || return
	(cd "$from" && nice make -s -j"$(nproc)" CFLAGS='-O2 -g' NO_GETTEXT=1 NO_CURL=1 NO_EXPAT=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1 \
		NO_OPENSSL=1 git && cp git "$bin/git") >&2
}

# Programs that count themselves: inlined functions would be counted too, so none is.
hooked=(-O1 -g -fno-inline -finstrument-functions "-L$bin" -Wl,-rpath,"$bin" -lhooks)
build_hooks() { gcc -O2 -shared -fPIC -o "$bin/libhooks.so" "$LONG/hooks.c"; }

build_pbzip2() {
	local from
	build_hooks && from=$(source_of pbzip2) && [ -n "$from" ] || return
	(cd "$from" && g++ -std=c++11 -w -DUSE_STACKSIZE_CUSTOMIZATION -o "$bin/pbzip2" pbzip2.cpp BZ2StreamScanner.cpp ErrorContext.cpp \
		-Wl,--no-as-needed "${hooked[@]}" -lbz2 -lpthread) >&2
}

build_redis() {
	local from
	build_hooks && from=$(source_of redis) && [ -n "$from" ] || return
	(cd "$from/deps" && nice make -s hiredis linenoise lua hdr_histogram fpconv) >&2
	(cd "$from/src" && nice make -s -j"$(nproc)" MALLOC=libc OPTIMIZATION=-O1 OPT=-O1 CFLAGS="-fno-inline -finstrument-functions" \
		LDFLAGS="-L$bin -Wl,-rpath,$bin -Wl,--no-as-needed -lhooks" redis-server && cp redis-server "$bin/redis") >&2
}

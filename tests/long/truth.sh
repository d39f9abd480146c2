# truth.sh - real programs: every function is recorded as often as callgrind counts it in the same binary.
# limit: 900
. "$LIVE/lib.sh"
need valgrind tclsh apt-get dpkg-source python3

built=${RECORDER%/*}/build/truth	# the programs are kept: they take minutes to build
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

build_lua() {
	local from
	from=$(source_of lua5.4)/src || return
	[ -f "$from/lua.c" ] || return
	# Debian's build makes the header; without a seed of ours it is the time.
	(cd "$from" && echo '#define DEB_HOST_MULTIARCH ""' > lua5.4-deb-multiarch.h && gcc -I. -O2 -g -DLUA_USE_LINUX -D'luai_makeseed(L)=1u' -o "$bin/lua" $(ls ./*.c | grep -v luac.c) -lm -ldl) >&2
}

build_sqlite3() {
	local from
	from=$(source_of sqlite3) && [ -n "$from" ] || return
	(cd "$from" && ./configure -q && make -s sqlite3.c shell.c &&
	 gcc -O2 -g -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o "$bin/sqlite3" sqlite3.c shell.c -lm) >&2
}

counted() { valgrind -q --tool=callgrind --demangle=no --callgrind-out-file=counted.cg "${@:2}" < "$1"; }

# What callgrind names by address has no symbol: _init and its like, which are never probed; nor is what calls main().
same_counts() {
	local program=$1
	python3 "${LIVE%/live}/long/callgrind.py" counted.cg "/$program" | grep -vE ' (0x|\(below main\))' | sort > want
	uf report --no-pager -d "$program.data" -f call --demangle=no |
		awk 'seen && $1 ~ /^[0-9]+$/ { print $1, $2 } /=====/ { seen = 1 }' | sort > got
	[ -s want ] || { echo "callgrind counted nothing"; return 1; }
	diff want got
}

compare() {
	local program=$1 input=$2; shift 2
	[ -x "$bin/$program" ] || "build_$program" || { skip "$program" "its source cannot be had or built here"; return; }
	counted "$input" "$bin/$program" "$@" > plain.out
	record "$program.data" --dear --no-syscalls --no-libcall -- "$bin/$program" "$@" < "$input" > traced.out
	check "$program: ends well" equal $? 0
	check "$program: says what it says untraced" cmp plain.out traced.out
	check "$program: every function as often as callgrind counts it" same_counts "$program"
	echo "$program: $(wc -l < want) functions, $(awk '{ n += $1 } END { print n }' want) calls" >&2
	check "$program: nothing lost" grep -q 'lost: nothing' <(said "$program.data")
	check "$program: uftrace opens it without a complaint" uftrace_accepts "$program.data"
}

cat > program.lua <<'EOF'
local t = {}
for i = 1, 2000 do t[#t + 1] = string.format("%05d", (i * 7919) % 2003) end
table.sort(t)
local s = table.concat(t, ","):gsub("%d", function(d) return d + 1 end)
local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
local sum = 0
for i = 1, 100 do sum = sum + co() end
print(#s, sum, pcall(error, "x"), select("#", table.unpack(t, 1, 50)))
EOF
compare lua /dev/null program.lua

cat > program.sql <<'EOF'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
	insert into t select i, printf('%05d', (i * 7919) % 2003) from n;
create index tb on t(b);
select count(*), sum(a), max(b) from t where b between '00100' and '01000';
select substr(b, 1, 2), count(*) from t group by 1 order by 2 desc limit 3;
update t set b = b || 'x' where a % 7 = 0;
delete from t where a % 3 = 0;
select json_group_array(b) from (select b from t order by b limit 5);
EOF
compare sqlite3 program.sql :memory:

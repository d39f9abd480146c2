# truth.sh - real programs: every function is recorded as often as callgrind counts it in the same binary, or as the program
# counts itself, built with -finstrument-functions. Every entry has its exit, and no call ends after who called it.
# limit: 1800
. "$LIVE/lib.sh"
need valgrind tclsh apt-get dpkg-source python3
LONG=${LIVE%/live}/long

. "$LONG/builds.sh"

# valgrind runs what it reads, and would run the breakpoints that another recorder has set in the dynamic linker: so the
# program gets copies of its libraries, in a mount namespace of its own.
counted() {
	local input=$1; shift
	unshare -m bash -c 'for lib in $(ldd "$1" | grep -o "/[^ ]*"); do
		cp "$lib" copy.${lib##*/} && mount --bind copy.${lib##*/} "$lib" || exit
	done; unset SHLVL OLDPWD; exec valgrind -q --tool=callgrind --demangle=no --callgrind-out-file=counted.cg "$@"' - "$@" < "$input"
}

# The names that both can know: all of a program with symbols, else those that it exports.
known_to_both() {
	nm "$1" 2> nm.err | awk '{ print $NF }' > names
	[ -s names ] || nm -D --defined-only "$1" | awk '{ print $NF }' > names
	awk 'NR == FNR { known[$1] = 1; next } $2 in known' names -
}

recorded_counts() {
	uf report --no-pager -d "$1" -f call --demangle=no |
		awk 'seen && $1 ~ /^[0-9]+$/ { print $1, $2 } /=====/ { seen = 1 }'
}

# What callgrind names by address has no symbol: _init and its like, which are never probed; nor is what calls main().
same_counts() {
	local path=$1 data=$2
	python3 "$LONG/callgrind.py" counted.cg "/${path##*/}" | grep -vE ' (0x|\(below main\))' | known_to_both "$path" | sort > want
	recorded_counts "$data" | known_to_both "$path" | sort > got
	[ -s want ] || { echo "callgrind counted nothing"; return 1; }
	diff <(grep -vxE "[0-9]+ (${varying-})" want) <(grep -vxE "[0-9]+ (${varying-})" got)
}

# What holds for each recording, whoever counted.
sound() {
	local name=$1
	check "$name: nothing lost" grep -q 'lost: nothing' <(said "$name.data")
	check "$name: uftrace opens it without a complaint" uftrace_accepts "$name.data"
	uf dump --no-pager --demangle=no -d "$name.data" > dump
	check "$name: each entry has its exit, in its parent's time" python3 "$LIVE/nesting.py" dump
	echo "$name: $(wc -l < want) functions, $(awk '{ n += $1 } END { print n }' want) calls" >&2
}

# What valgrind adds to the environment of a program.
as_counted=(LD_LIBRARY_PATH=/usr/lib/debug "$(valgrind -q --tool=none env | grep '^LD_PRELOAD=')")

# compare NAME PATH INPUT ARG...: one process, deterministic, counted by callgrind.
compare() {
	local name=$1 path=$2 input=$3; shift 3
	counted "$input" "$path" "$@" > plain.out 2> plain.err	# empty, as record's is: Python asks where it stands
	(export "${as_counted[@]}"; record "$name.data" --no-syscalls --no-libcall -- "$path" "$@" < "$input" > traced.out)
	check "$name: ends well" equal $? 0
	check "$name: says what it says untraced" cmp plain.out traced.out
	check "$name: every function as often as callgrind counts it" same_counts "$path" "$name.data"
	sound "$name"
	rm -rf "$name.data"
}

built() {
	[ -x "$bin/$1" ] || "build_$1" || { skip "$1" "its source cannot be had or built here"; return 1; }
}

# Functions of one name as one; the constructors C1 and C2 of a class, and its destructors, are one function with two names.
by_name() { sed -E 's/([CD])2E/\11E/' | awk '{ n = $1; $1 = ""; sum[$0] += n } END { for (f in sum) print sum[f] f }'; }

# same_as_hooks NAME: what a program counted itself, in the very run that was recorded.
same_as_hooks() {
	[ -s hooks ] || { echo "it counted nothing"; return 1; }
	nm "$bin/$1" | awk 'NR == FNR { sub(/^0+/, "", $1); if ($2 ~ /[tTwW]/) name[$1] = $3; next }
		{ print $1, $3 in name ? name[$3] : "without a name: " $3 }' - hooks | by_name | sort > want
	awk '{ print $2 }' want > counted
	recorded_counts "$1.data" | by_name | awk 'NR == FNR { known[$1] = 1; next } $2 in known' counted - | sort > got
	diff want got
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
# Whether a C string is found in lua's cache of them, which goes by address, differs from run to run.
varying='luaS_newlstr|internshrstr'
built lua && compare lua "$bin/lua" /dev/null program.lua
unset varying

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
built sqlite3 && compare sqlite3 "$bin/sqlite3" program.sql :memory:

cat > program.py <<'END'
import json, re
class Node:
    def __init__(self, n): self.n, self.kids = n, [Node(i) for i in range(n)]
    def sum(self): return self.n + sum(k.sum() for k in self.kids)
def fall(n):
    if n == 0: raise ValueError("deep")
    return fall(n - 1) + 1
print(Node(7).sum(), json.dumps({"a": [1, 2.5, None]}), re.sub(r"(\d)", r"<\1>", "a1b2"))
try: fall(30)
except ValueError as e: print(e)
print(sorted("%05d" % (i * 7919 % 2003) for i in range(500))[::100])
END
python=/usr/bin/python3.11		# Debian's, as it comes
if [ -x $python ]; then
	# Python makes objects of all its environment, so both get the same, and little. Under valgrind it compares 48 times
	# less (a breakpoint of gdb is hit as often as is recorded), and calls one more function of its own, unknown which.
	(
		varying='PyObject_RichCompare(Bool)?|_PyObject_GetMethod|_PyEval_EvalFrameDefault|_PyFunction_Vectorcall|PyObject_VectorcallMethod'
		export -n $(compgen -e)
		export PATH PWD PYTHONHASHSEED=0 GLIBCPP_FORCE_NEW=1 GLIBCXX_FORCE_NEW=1
		compare python3 $python /dev/null -I -S -B program.py
	)
else
	skip python3 "$python is not there"
fi

if built git; then
	export HOME=$scratch GIT_CONFIG_NOSYSTEM=1
	(git init -q repo && cd repo && for i in $(seq 20); do
		mkdir -p dir$((i % 3)); echo "$i" > dir$((i % 3))/file; git add .
		GIT_AUTHOR_DATE="2024-01-$i 00:00 +0000" GIT_COMMITTER_DATE="2024-01-$i 00:00 +0000" \
			git -c user.name=A -c user.email=a@b commit -q -m "change $i"
	done; echo more >> dir1/file; echo new > new; touch -d 2024-02-01 dir*/* .git/index) > git.out 2>&1
	compare git-log "$bin/git" /dev/null -C repo --no-pager log --stat -p
	compare git-status "$bin/git" /dev/null -C repo --no-optional-locks status
	compare git-blame "$bin/git" /dev/null -C repo --no-pager blame dir2/file
fi

# C++: exceptions through frames with destructors, rethrown, across threads. callgrind miscounts what an exception leaves, so
# the program counts itself.
record throw.data --no-syscalls --no-libcall -- "$PROGRAMS/throw" > throw.out
check "throw: every function as often as it counts it" truth throw.data throw.out
grep '^calls ' throw.out | awk '{ print $3, $2 }' > want
sound throw
rm -rf throw.data

# C++ and threads: each counts into the same table, so what is compared is one run.
if built pbzip2; then
	for ((i = 0; i < 200000; i++)); do echo "line $i $((i * i % 977))"; done > text
	COUNTS=$scratch/hooks record pbzip2.data --no-syscalls --no-libcall -- "$bin/pbzip2" -p3 -b1 -c text > text.bz2
	check "pbzip2: ends well" equal $? 0
	check "pbzip2: what it packs is what it was given" cmp text <(bzip2 -dc text.bz2)
	check "pbzip2: every function as often as it was entered" same_as_hooks pbzip2
	sound pbzip2
	rm -rf pbzip2.data
fi

cli() { redis-cli -s "$scratch/redis.sock" "$@"; }
serve_redis() {
	COUNTS=$scratch/hooks record redis.data --no-syscalls --no-libcall -- \
		"$bin/redis" --port 0 --unixsocket "$scratch/redis.sock" --save '' --io-threads 1 > redis.out
}
redis_commands() {
	cat <<-'END'
	set a 1
	incr a
	append a xyz
	rpush l 1 2 3 4 5
	lrange l 0 -1
	sort l desc
	hset h f 1 g 2
	hgetall h
	zadd z 1 one 2 two 3 three
	zrangebyscore z 1 2
	sadd s x y z
	sinter s s
	eval "return redis.call('get', KEYS[1])" 1 a
	multi
	incr b
	exec
	nosuchcommand
	xadd st * k v
	dump a
	object encoding z
	del a l h z s b st
	info
	END
}
if built redis && command -v redis-cli > /dev/null; then
	serve_redis & served=$!
	for ((i = 0; i < 200; i++)); do [ -S redis.sock ] && break; sleep 0.1; done
	for ((i = 0; i < 5; i++)); do redis_commands; done | cli > answers
	cli shutdown nosave
	wait $served
	check "redis: ends well" equal $? 0
	check "redis: answers" [ "$(grep -c three answers)" = 0 -a "$(grep -c '^nosuchcommand\|unknown command' answers)" -ge 5 ]
	check "redis: every function as often as it was entered" same_as_hooks redis
	sound redis
	rm -rf redis.data
fi

# real.sh - programs as they come: Debian binaries, scripts, a pipeline, a storm of ten thousand processes.
# limit: 400
# beside others
. "$LIVE/lib.sh"
need sqlite3 python3 git
unset PYTHONUNBUFFERED
python=/usr/bin/python3		# Debian's, not one that a version manager put before it
[ -x $python ] || python=$(command -v python3)

# alike NAME COMMAND...: same output and end as untraced, and uftrace opens the recording.
alike() {
	local name=$1 plain traced; shift
	"$@" > plain.out 2> plain.err
	plain=$?
	record "$name.data" -- "$@" > "$name.out"
	traced=$?
	check "$name: ends as untraced" equal $traced $plain
	check "$name: says what it says untraced" cmp plain.out "$name.out"
	check "$name: uftrace opens it without a complaint" uftrace_accepts "$name.data"
}
processes() { grep -c "^SESS.*exename=\"[^\"]*/$2\"" "$1/task.txt"; }

alike sqlite sqlite3 :memory: "create table t(a, b); with recursive n(x) as (select 1 union all select x + 1 from n
	where x < 2000) insert into t select x, x * x from n; select sum(b) from t where a % 7 = 0; select count(*) from t;"
check "sqlite: its library calls" [ "$(calls_of sqlite.data | awk '$2 ~ /^sqlite3_/' | wc -l)" -ge 3 ]

alike python $python -c 'print(1)'
check "python: its functions" [ "$(report_calls python.data Py_BytesMain)" -ge 1 -o "$(report_calls python.data main)" -ge 1 ]
check "python: the write of its output" grep -qF 'sys_write(1, "1\n", 2) = 2;' <(replay python.data)
rm -rf ./*.data
alike python-raise $python -c 'import threading, subprocess
def f(n):
    if n == 0: raise ValueError("deep")
    f(n - 1)
def t():
    try: f(50)
    except ValueError as e: print("caught", e)
threads = [threading.Thread(target=t) for _ in range(3)]
[x.start() for x in threads]; [x.join() for x in threads]
print(subprocess.run(["echo", "child"], capture_output=True).stdout)'
rm -rf ./*.data

git init -q repo && for i in 1 2 3; do
	echo $i > repo/file; git -C repo add file
	GIT_AUTHOR_DATE="2024-01-0$i 00:00 +0000" GIT_COMMITTER_DATE="2024-01-0$i 00:00 +0000" \
		git -C repo -c user.name=A -c user.email=a@b commit -q -m "change $i"
done
alike git git -C repo --no-pager log --stat
check "git: its functions" [ "$(report_calls git.data cmd_log)" = 1 -o "$(calls_of git.data | awk '$2 !~ /^sys_/' | wc -l)" -ge 50 ]
rm -rf ./*.data

alike pipe sh -c 'ls / | wc -l'
check "sh: the shell, ls and wc" equal "$(for p in ls wc; do processes pipe.data $p; done | tr '\n' ' ')" "1 1 "
alike pipeline bash -c 'for i in 3 1 2; do echo $i; done | sort | tee sorted | while read -r n; do echo "line $n"; done; exit ${PIPESTATUS[1]}'
check "bash: sort and tee in it" equal "$(for p in sort tee; do processes pipeline.data $p; done | tr '\n' ' ')" "1 1 "
alike signals bash -c 'trap "echo usr1" USR1; kill -USR1 $$; (kill -SEGV $BASHPID); echo "status $?"; kill -TERM $$'
rm -rf ./*.data

# A script's functions are those of its interpreter, and of what it starts.
printf '#!/bin/bash\nset -e\n"%s/nested" | grep "^fib"\n' "$PROGRAMS" > script
chmod +x script
alike script ./script
check "script: the functions of its interpreter" [ "$(report_calls script.data execute_command)" -ge 1 -o "$(report_calls script.data main)" -ge 2 ]
check "script: the functions of what it starts" equal "$(report_calls script.data fib)" 1973

# uftrace's readers look through all tasks for each record, a minute for ten thousand: their count is asked of a tenth
# unless FULL is set, and of the large storm that each process has its task.
storm=10000
record storm.data -- "$PROGRAMS/forkstorm" $storm > storm.out
check "a storm of $storm processes: it ends as untraced" equal $? 0
"$PROGRAMS/forkstorm" $storm > plain.out
check "a storm of $storm processes: its output" cmp plain.out storm.out
check "a storm of $storm processes: each has its task" equal "$(ls storm.data | grep -c '^[0-9]*\.dat$')" $((storm + 1))
check "a storm of $storm processes: each was forked" equal "$(grep -c ^FORK storm.data/task.txt)" $storm
check "a storm of $storm processes: nothing was lost" grep -q '^recorder: lost: nothing' storm.data.err
if [ -z "$FULL" ]; then
	record storm.data -- "$PROGRAMS/forkstorm" 1000 > storm.out
fi
check "a storm of processes: each call and exit" truth storm.data storm.out

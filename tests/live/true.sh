# true.sh - every run of /bin/true is recorded whole: the exec, every system call in order, the exit status.
# limit: 900
# beside others
. "$LIVE/lib.sh"
need strace

runs=${FULL:+1000}
runs=${runs:-100}

# What must be seen: strace's word for it, calls by name.
strace -o strace.out /bin/true
want=$(sed -n 's/^\([a-z0-9_]*\)(.*/sys_\1/p' strace.out | tr '\n' ' ')

names() { replay "$1" | sed -n 's/^ *\(sys_[a-z0-9_]*\)(.*/\1/p' | tr '\n' ' '; }

whole=0 sequence='' status='' session='' info=''
for ((i = 1; i <= runs; i++)); do
	record true.data -- /bin/true
	s=$?
	[ $s -eq 0 ] || status="run $i: exit status $s: $(tail -n 2 true.data.err)"
	got=$(names true.data)
	[ "$got" = "$want" ] || sequence="run $i: $(diff <(tr ' ' '\n' <<<"$want") <(tr ' ' '\n' <<<"$got") | grep '^[<>]' | tr '\n' ' ')"
	grep -q '^SESS.*exename="[^"]*/true"' true.data/task.txt || session="run $i: no session of /bin/true"
	uf info --no-pager -d true.data | grep -q 'exit status *: exited with code: 0' || info="run $i"
	[ -z "$status$sequence$session$info" ] || break
	whole=$((whole + 1))
done
check "true runs as it is" equal "$status" ""
check "every system call of /bin/true, in order" equal "$sequence" ""
check "the exec of /bin/true" equal "$session" ""
check "the exit status of /bin/true" equal "$info" ""
check "$runs of $runs runs of /bin/true are whole" equal $whole "$runs"

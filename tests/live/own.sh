# own.sh - with -p and --returns=never who runs the same program, and is not recorded, does not meet the probes.
# limit: 60
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
need mkfifo python3
program serves || exit 0
"$RECORDER" --doctor | grep -qE '^ *process-links +yes' || { skip own "this kernel has no process-links"; exit 0; }

sleep 60 8>&- | "$PROGRAMS/serves" > /dev/null 8>&- &
wait_for pgrep -P $$ -x serves > /dev/null
bystander=$(pgrep -P $$ -x serves | head -1)

state_of() { text_is_whole "$1" > /dev/null 2>&1 && echo whole || echo probed; }

# beside ORDERS OPTION...: the text of the target, and of another process of that program, after the orders.
beside() {
	local orders=$1; shift
	serve "$PROGRAMS/serves"
	attach own.data -p "$served" "$@"
	tell begin $orders
	done_all
	echo "$(state_of "$served") $(state_of "$bystander")"
	detach || cat own.data.err
	served_status
	equal "$(state_of "$bystander")" whole
}
check "the target has the probes, a bystander not" equal "$(beside "" --returns=never)" "probed whole"
check "once the target makes a process both have" equal "$(beside "fork" --returns=never)" "probed probed"
check "so without process links" equal "$(beside "" --returns=never --no-feature process-links)" "probed probed"
check "and where returns are probed" equal "$(beside "")" "probed probed"

# counts OPTION...: threads that were there, that come, and children, with every call of theirs, before and after a fork.
counts() {
	serve "$PROGRAMS/serves"
	attach own.data --returns=never -p "$served" "$@"
	tell begin "all 100" "thread 50" "fork 20" "all 10" "thread 5" "fork 2"
	done_all
	detach || { cat own.data.err; return 1; }
	served_status
	equal $? 7 || return
	uftrace_accepts own.data || return
	equal "$(report_calls own.data step)" 297 || return
	equal "$(report_calls own.data work)" 8
}
check "every call of threads and children, before and after a fork" counts
check "so where filters are asked" counts -N '^nobody$'
check "so with arguments" counts -A step@arg1
check "so with --time-filter" counts -t 1ns
check "so with arguments and --time-filter" counts -t 1ns -A step@arg1

tree() {
	serve "$PROGRAMS/serves"
	attach tree.data --returns=never --tree "$served"
	tell begin "all 100"
	done_all
	echo "$(state_of "$bystander")"
	detach || { cat tree.data.err; return 1; }
	served_status
	truth tree.data served.out >&2
}
check "two processes of a tree" equal "$(tree)" whole

bare() {
	serve "$PROGRAMS/serves"
	attach bare.data --returns=never -p "$served"
	tell begin "bare 7" "all 5"
	done_all
	detach || { cat bare.data.err; return 1; }
	served_status
	said bare.data | grep -q 'made past the C library, or not answered: 1;' || return
	equal "$(report_calls bare.data step)" 17
}
check "a process made by a bare system call is said, and probed soon" bare
kill "$bystander"

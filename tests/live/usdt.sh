# usdt.sh - USDT probes: counted right, their arguments right, the program's semaphore as it was; of libraries, too.
. "$LIVE/lib.sh"
. "$LIVE/attached.sh"
program probes || exit 0
probes=$PROGRAMS/probes lib=$PROGRAMS/libprobes.so

# shown DIR: the last hit of each probe whose arguments do not change from run to run, as uftrace replay shows it.
shown() {
	replay "$1" | sed -n 's/^ *//; s/;$//; /^[a-z]*:/p' |
		grep -E ':(real|nothing|places|symbols|unreadable|text)\(|:compiled\(-99,|:in_memory\(-198,|:guarded\(99'
}
# What probes.c passes there.
passed() {
	cat <<-END
	$1:compiled(-99, 0xe8d4a51063, -99, -7, 4195)
	$1:in_memory(-198, 99)
	$1:guarded(99)
	$1:nothing()
	$1:text("hello, probe", 12)
	$1:text("", 0)
	$1:real(1, 2.500000)
	END
	[ "$(uname -m)" != x86_64 ] || cat <<-END
	$1:places(101, -102, 5, -5, 16, -102)
	$1:symbols(-11, 22, 22)
	$1:unreadable('?', '?', '?', 3, '?', '?')
	END
}

# each WHAT OPTION...: program and library, with these options.
each() {
	local what=$1; shift
	record all.data "$@" --usdt='*' --usdt='*:text@arg1/s' -- "$probes" > all.out
	check "$what: hits counted as the program did" truth all.data all.out
	check "$what: arguments as the program passed them" equal "$(shown all.data)" "$(passed program)"
	check "$what: uftrace opens it without a complaint" uftrace_accepts all.data
	record lib.data "$@" --usdt='*' --usdt='*:text@arg1/s' -- "$probes" "$lib" > lib.out
	check "$what: of a library opened by dlopen" truth lib.data lib.out
	check "$what: its arguments" equal "$(shown lib.data)" "$(passed library)"
}
each "as this kernel can"
each "perf events" --no-feature uprobe-multi,uprobe-tracefs --no-syscalls
each "without functions, without syscalls" --no-functions --no-syscalls
check "nothing but probes is there" equal "$(calls_of lib.data | grep -vc ' library:')" 0

record o0.data -q --usdt='program:*' --usdt='*:text@arg1/s' -- "$PROGRAMS/probes.O0" > o0.out
check "unoptimized, not position-independent: counts" truth o0.data o0.out
check "unoptimized: arguments" equal "$(shown o0.data)" "$(passed program)"

record nested.data -q --usdt='program:*' --no-syscalls -- "$probes" > nested.out
check "a hit lies in the function that it is in" \
	equal "$(replay nested.data -F when_watched | grep -v '^#' | tr -d ' \n' | cut -c1-62)" \
	"when_watched(){program:guarded(0);}/*when_watched*/when_watche"
check "a hit takes no time" equal "$(uf report --no-pager -d nested.data -f total,call | awk '/program:/ && NF != 2')" ""
check "dump and graph show it" grep -q 'program:nothing' <(uf dump -d nested.data; uf graph -d nested.data)
record raw.data --format raw,uftrace --usdt='program:*' -- "$probes" > raw.out
"$RECORDER" -q --replay raw.data/*.raw -o again.data 2>&1 || "$RECORDER" -q --replay raw.data -o again.data
check "from a raw file the same comes" equal "$(calls_of again.data | grep program: | sort)" "$(calls_of raw.data | grep program: | sort)"

# What is asked for, and nothing else.
names_of() { calls_of "$1" | grep -o '[a-z]*:.*' | sort | tr '\n' ' '; }
record some.data -e 'usdt:libprobes*:lib*:n*' --usdt='program:[rs]*' --no-syscalls -- "$probes" "$lib" > some.out
check "by library, provider and name" equal "$(names_of some.data)" "library:nothing "
record none.data --usdt='program:nosuch' --usdt='program:*' -- "$probes" > none.out
check "a name that matches nothing is said, in one line" \
	equal "$(said none.data | grep -c "no probe matches 'program:nosuch'")/$(said none.data | grep -c 'no probe matches')" 1/1
record unasked.data -- "$probes" > unasked.out
check "not asked for, not there, and the program is not watched" \
	equal "$(names_of unasked.data)$(grep -c 'guarded 0' unasked.out)" 1
[ "$(uname -m)" != x86_64 ] || check "--list shows them" equal "$("$RECORDER" --list --usdt='program:p*' "$probes" | grep '^usdt ' | tr -s ' ' | cut -d ' ' -f 1-4)" \
	"$(printf 'usdt program:%s\n' 'parts 1@%al 1@%ah' 'places -4@(%rax,%rbx,4) -4@4(%rax,%rbx,4)')"

# A process that runs already, and its semaphore: 0, 1 while it is recorded, 0.
grown() { [ "$(grep -c watched served.out)" -gt "$1" ]; }
for way in "--strict" "--no-feature=uprobe-multi,uprobe-tracefs"; do
	serve "$probes" -
	tell go; wait_for grown 0
	attach attached.data "$way" --no-syscalls --usdt='program:*' -p "$served"
	tell go; wait_for grown 1
	tell go; wait_for grown 2
	detach
	tell go; wait_for grown 3
	check "-p $way: the semaphore is raised while it records, and only then" \
		equal "$(grep watched served.out | tr -d '\n')" "watched 0watched 1watched 1watched 0"
	check "-p $way: hits" equal "$(report_calls attached.data program:guarded) $(report_calls attached.data program:text)" "200 4"
	check "-p $way: its text is what its file is" text_is_whole "$served"
	served_status
done

# Of a library that Debian ships: as often as its function was called, with what that was called with.
program throw && {
	record throw.data --usdt='libstdcxx:*' -A '__cxa_throw@arg1/x,arg2/x' --no-syscalls -- "$PROGRAMS/throw" > throw.out
	check "libstdc++: each throw is seen" equal "$(report_calls throw.data libstdcxx:throw)" "$(report_calls throw.data __cxa_throw)"
	check "libstdc++: with its arguments" equal \
		"$(replay throw.data | grep -o 'libstdcxx:throw(.*)' | grep -o '(.*' | sort)" \
		"$(replay throw.data | grep -o '__cxa_throw(.*)' | grep -o '(0x[^)]*)' | sort)"
	check "libstdc++: and each catch" [ "$(report_calls throw.data libstdcxx:catch)" -gt 0 ]
}

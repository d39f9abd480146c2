# Wrong command lines: one line that names the user's own word, the right exit status, and nothing done.
# limit: 60
. "$LIVE/lib.sh"

printf 'text\n' > "$scratch/text"
printf '#!/no/such/interpreter\n' > "$scratch/script"
chmod +x "$scratch/script"
mkdir "$scratch/folder" "$scratch/empty"
cd "$scratch/empty" || exit 1

# wrong STATUS WORD... -- ARGUMENT...: each WORD must be in what is said.
wrong() {
	local status=$1 words=() said got args; shift
	while [ "$1" != -- ]; do words+=("$1"); shift; done
	shift
	printf -v args '%q ' "$@"
	said=$("$RECORDER" "$@" 2>&1 >"$scratch/stdout")
	got=$?
	check "recorder $args" looks_wrong "$got" "$status" "$said" "${words[@]}"
}

looks_wrong() {
	local got=$1 status=$2 said=$3 lines word; shift 3
	lines=$(grep -c . <<< "$said")
	[ "$got" -eq "$status" ] || { echo "exit status $got, want $status: $said"; return 1; }
	[ "$(grep -vc '^recorder: ' <<< "$said")" -eq 0 ] || { echo "not in recorder's name: $said"; return 1; }
	[ "$(grep -vc '^recorder: try: ' <<< "$said")" -eq 1 ] || { echo "$lines lines, want one: $said"; return 1; }
	[ "$lines" -le 2 ] || { echo "more than one hint: $said"; return 1; }
	for word; do
		grep -qF -- "$word" <<< "$(head -n 1 <<< "$said")" || { echo "'$word' is not in: $said"; return 1; }
	done
	[ ! -s "$scratch/stdout" ] || { echo "something on stdout"; return 1; }
	[ -z "$(ls -A)" ] || { echo "files were written: $(ls -A)"; rm -rf ./*; return 1; }
}

wrong 2 "no command"						--
wrong 2 "no command"						-- --strict --
wrong 2 --syscals --syscalls					-- --syscals true
wrong 2 --fromat --format					-- --fromat=raw true
wrong 2 --env-vars "has a place"				-- --env-vars true
wrong 2 --mounts "has a place"				-- --mounts --format raw true
wrong 2 -g "has a place"						-- -g true
wrong 2 --functions "has a place"				-- --functions=main --format bas true
wrong 2 -F "has a place"					-- -F main --format bas true
wrong 2 -A "has a place"					-- -A main@arg1 --format neutrino true
wrong 2 --usdt "has a place"					-- --usdt 'libc:*' --format bas true
wrong 2 --syscalls "has a place"				-- -e trace=openat --format bas true
wrong 2 "-e EVENT" "has a place"				-- -e sched --format bas true
wrong 2 "'-w'"							-- -w true
wrong 2 "'-w'"							-- -qw true
wrong 2 --no-f --no-follow					-- --no-f true
wrong 2 "--strict=1"						-- --strict=1 true
wrong 2 "-o" PATH						-- -o
wrong 2 "-o" empty						-- -o '' true
wrong 2 "-s" "'many'"						-- -s many true
wrong 2 "-s" "'-1'"						-- -s -1 true
wrong 2 "-s" 70000						-- -s 70000 true
wrong 2 "-b" "'16Q'"						-- -b 16Q true
wrong 2 "-b" "'1'" 1024						-- -b 1 true
wrong 2 "-b" 1G							-- -b 4G true
wrong 2 "--memory" "'x'"					-- --memory x true
wrong 2 "--format" uftrac "'uftrace'"				-- --format uftrac true
wrong 2 "--format" "'raw,,raw'"					-- --format raw,,raw true
wrong 2 "-e" opneat "'openat'"					-- -e trace=opneat true
wrong 2 "--syscalls" %fiel "%file"				-- --syscalls=%fiel true
wrong 2 "--syscalls" "/("					-- '--syscalls=/(' true
wrong 2 "-e" "signal="						-- -e signal=INT true
wrong 2 "--no-feature" uprobe-mutli "'uprobe-multi'"		-- --no-feature uprobe-mutli true
wrong 2 "-p" "'redis'"						-- -p redis
wrong 2 "-p 4194999" "no such process"				-- -p 4194999
[ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] || wrong 2 "-p 2" "kernel" -- -p 2
# A process that may not be looked at is there all the same. (As root, but without the right to look at who has more rights.)
if command -v setpriv > /dev/null; then
	sleep 60 & guarded=$!
	printf '#!/bin/sh\nexec setpriv --bounding-set=-sys_ptrace "%s" "$@"\n' "$RECORDER" > "$scratch/lesser"
	chmod +x "$scratch/lesser"
	RECORDER=$scratch/lesser wrong 2 "-p $guarded" "may not look" -- -p $guarded
	kill $guarded
else
	skip "a process that may not be looked at" "setpriv is not there"
fi
wrong 2 "--duration" "'soon'"					-- --duration soon true
wrong 2 "--status" "'often'"					-- --status=often true
wrong 2 "-u" "'no-such-user'"					-- -u no-such-user true
wrong 2 "-u" --as-root						-- -u root --as-root true
wrong 2 "-H" "'in(ner'" "regular expression"			-- -H 'in(ner' true
wrong 2 "--hide" missing					-- --hide 'main;' true
wrong 2 "-H" "'main@depth=1'" "not built"			-- -H main@depth=1 true
wrong 2 "-F" "'*'" "regular expression"				-- -F '*' true
wrong 2 "-N" missing						-- -N '' true
wrong 2 "-D" "'deep'"						-- -D deep true
wrong 2 "-D" " 0 "						-- -D 0 true
wrong 2 "-D" 1000 250						-- -D 1000 true
wrong 2 "--match" "'wild'" "'glob'"				-- --match wild -H main true
wrong 2 "--size-filter" "'big'"					-- --size-filter big true
wrong 2 "--list" "'@libc'"					-- --list=@libc true
wrong 2 "--replay" "'true'"					-- --replay /dev/null true
wrong 2 "--replay" "'/no/such/file'"				-- --replay /no/such/file
wrong 2 "--doctor" "'true'"					-- --doctor true
wrong 2 "--simulate-drops" "'0x'"				-- --simulate-drops 0x true
wrong 2 "--cgroup" "no/such"					-- --cgroup no/such
wrong 2 "-P" strace						-- -P /etc true
wrong 2 "-A" "'arg1/q'"						-- -A main@arg1/q true
wrong 2 "-R" "'arg1'" retval					-- -R main@arg1 true
wrong 2 "--compression" "'lz4'"					-- --compression lz4 true
wrong 2 "--recover" "'no-such'"					-- --recover no-such
wrong 2 "--recover" "'no-such'"					-- --recover no-such true
wrong 127 "'no-such-program'" PATH				-- no-such-program
wrong 127 "'record'"						-- record true
wrong 127 "'./no-such-program'"					-- ./no-such-program
wrong 127 "empty"						-- ''
wrong 126 "'/tmp'" directory					-- /tmp
wrong 126 "'../text'" "ermission"				-- ../text
wrong 126 "'../text/x'"						-- ../text/x
wrong 127 "'../script'" interpreter				-- ../script
wrong 127 'no\nsuch\x1b[31m'					-- $'no\nsuch\033[31m'

export RECORDER_OPTS=--strct
wrong 2 RECORDER_OPTS "'--strct'" "'--strict'"			-- true
export RECORDER_OPTS='--strict ls'
wrong 2 RECORDER_OPTS "'ls'"					-- true
unset RECORDER_OPTS

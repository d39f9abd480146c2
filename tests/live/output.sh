# output.sh - where the recording goes, what happens to what was there, and who may read it.
. "$LIVE/lib.sh"
. "$LIVE/basjudge.sh"
run() { "$RECORDER" "$@" -- /bin/true > run.out 2> run.err; }

run
check "uftrace.data is the place without an option" [ -f uftrace.data/info ]
check "the directory is its owner's alone" equal "$(stat -c %a uftrace.data)" 700
check "so is every file" equal "$(find uftrace.data -type f ! -perm 600 | head)" ""
check "and nothing but files is in it" equal "$(find uftrace.data -mindepth 1 ! -type f | head)" ""

inode=$(stat -c %i uftrace.data)
run
check "one that is there moves to .old" equal "$(stat -c %i uftrace.data.old)" "$inode"
inode=$(stat -c %i uftrace.data)
run
check "and takes the place of an older .old" equal "$(stat -c %i uftrace.data.old)" "$inode"
check "which leaves one new and one old" equal "$(echo uftrace.data*)" "uftrace.data uftrace.data.old"

run -o here; check "-o DIR" [ -f here/info ]
run -d there; check "-d DIR" [ -f there/info ]
mkdir -p "sub/a b"; run -o "sub/a b/c"; check "a path with blanks" [ -f "sub/a b/c/info" ]
run -o slash/; check "a path with a slash at its end" [ -f slash/info ]

refused() {	# refused NAME: the last run failed as recorder's own failures do, in one line that names it
	local status=$?
	check "$1: refused with 125" equal $status 125
	check "$1: one line that names it" grep -q "^recorder: .*$2" run.err
}

mkdir foreign; echo mine > foreign/precious
run -o foreign; refused "a directory that is not ours" foreign
check "a directory that is not ours stays as it was" equal "$(ls -A foreign) $(cat foreign/precious)" "precious mine"
mkdir empty; run -o empty
[ $? -eq 0 ] && ok "an empty directory is taken or refused" || refused "an empty directory" empty
echo text > file; run -o file; refused "a file" file
check "a file stays as it was" equal "$(cat file)" text
mkdir foreign.data; echo mine > foreign.data/precious; run -o keep; mv foreign.data keep.old; run -o keep
check "a foreign .old is never removed" equal "$(cat keep.old/precious 2>/dev/null)" mine

run -o real; ln -s real link; run -o link; refused "a link to one of ours" link
check "a link stays one" [ -L link ]
mkdir victim; ln -s victim dir-link; run -o dir-link; refused "a link to a directory" dir-link
check "nothing is written through a link" equal "$(ls -A victim)" ""
ln -s nowhere dangling; run -o dangling; refused "a dangling link" dangling
check "nothing is made through a dangling link" [ ! -e nowhere ]
run -o no/such/place/data; refused "a place that is not there" no/such

# The program does not run when its recording cannot be written.
"$RECORDER" -o foreign -- touch ran > /dev/null 2>&1
check "the program is not run when the place is refused" [ ! -e ran ]

(umask 000; run -o open; stat -c %a open > mode); check "whatever the umask" equal "$(cat mode)" 700
(umask 777; run -o shut); check "even one that forbids everything" equal "$(stat -c %a shut 2>/dev/null) $(stat -c %a shut/info 2>/dev/null)" "700 600"

# What the program makes under that name while it is recorded is its own; what was recorded stays, too, and is sealed elsewhere.
for f in bas trace-dat; do
	"$RECORDER" --format $f -o mine -- sh -c 'echo precious > mine' 2> mine.err
	check "a file that came meanwhile stays as it is ($f)" equal "$(cat mine)" precious
	check "... nobody says that it was written" equal "$(grep -cE "wrote|open it" mine.err)" 0
	check "... the summary names what can be sealed" grep -q "recorder --recover 'mine.part' seals it" mine.err
	"$RECORDER" -q --recover mine.part 2>&1
	check "... so it can" [ -s mine.recovered ]
	rm -rf mine*
done

# What gathers is known by itself, not by its name: who exchanges it loses nothing, and has no root remove anything.
for f in bas trace-dat; do
	"$RECORDER" --format $f -o mine -- sh -c 'mv mine.part away && mkdir mine.part && touch mine.part/.recorder mine.part/precious' 2> mine.err
	check "a spool directory that was exchanged: the file comes ($f)" equal "$(stat -c %F mine) $(grep -c 'open it' mine.err)" "regular file 1"
	check "... what has its name stays" [ -e mine.part/precious ]
	rm -rf mine* away
done
"$RECORDER" --format bas -o mine -- sh -c 'rm mine.part/*' 2> mine.err
check "what gathers is taken away: nobody says that it was written" equal "$(grep -cE "wrote|open it" mine.err)" 0
check "... but what has become of it" grep -q "'mine' could not be written" mine.err
# Once there is something: what is written each second at least.
"$RECORDER" --strict --format trace-dat -o mine -- sh -c 'until [ -s mine.part/cpu0 ] || [ -s mine.part/cpu1 ]; do sleep 0.1; done; rm mine.part/cpu*' 2> mine.err
check "... of the CPUs: --strict says so" equal $? 3
check "... and recorder how much, not that nothing is lost" equal "$(grep -cE "'mine': [0-9]+ bytes of events are gone|lost: nothing" mine.err)" 1
rm -rf mine*

# A filesystem that cannot rename without replacing: the same.
mkdir under over
if command -v bindfs > /dev/null && bindfs under over 2> /dev/null; then
	for f in bas trace-dat; do
		"$RECORDER" --format $f -o over/$f -- true 2> over.err
		check "FUSE: the file comes ($f)" equal "$(stat -c %F under/$f) $(grep -c 'open it' over.err)" "regular file 1"
		check "... and nothing is left beside it" [ ! -e under/$f.part ]
		"$RECORDER" -q --format $f -o over/mine.$f -- sh -c "echo precious > over/mine.$f" 2> /dev/null
		check "... what came meanwhile stays" equal "$(cat under/mine.$f)" precious
	done
	umount over
else
	skip "a recording on FUSE" "bindfs cannot mount here"
fi

# A limit on the size of files ends a text early: that is said beside it, with what it has.
(ulimit -f 100; exec "$RECORDER" --format bas -o limited -- sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; exit 5') 2> limited.err
check "a limit on files: the program ends as it does" equal $? 5
check "... the text is sound, and its .stats have as much as it has" sound limited
check "... and why there is no more" grep -qx 'not whole: File too large' limited.stats

# A full disk is said and counted, and the program goes on.
if mkdir small && mount -t tmpfs -o size=256k none small 2>/dev/null; then
	"$RECORDER" --strict -o small/data -- "$PROGRAMS/storm" 200000 > full.out 2> full.err
	status=$?
	check "a full disk: the program runs to its end" grep -q '^calls spin 200000$' full.out
	check "a full disk: it is said" grep -qiE '^recorder: .*(no space|full)' full.err
	check "a full disk: with --strict it shows in the exit status" [ $status -ne 0 ]
	check "a full disk: what was written opens" uf replay --no-pager -d small/data
	rm -rf small/data
	"$RECORDER" --format bas -o small/data -- sh -c 'for i in 1 2 3 4; do ls -lR /usr/include/linux; done > /dev/null; i=0
		while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done' 2> bas.err
	check "a full disk: bas text says it, too" grep -q 'No space left' bas.err
	check "a full disk: its file ends with a whole event" "$python" -B "$LIVE/bas.py" check small/data
	rm -rf small/data*
	"$RECORDER" --format raw -o small/data -- "$PROGRAMS/storm" 200000 > full.out 2> raw.err
	check "a full disk: --format raw says it, too" grep -qiE "^recorder: format 'raw'.*(no space|full)" raw.err
	for f in full bas raw; do
		check "a full disk: nobody claims that nothing is lost ($f)" equal "$(grep -c 'lost: nothing' $f.err)" 0
	done
	umount small
else
	skip "a full disk" "tmpfs cannot be mounted here"
fi

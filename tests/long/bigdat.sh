# bigdat.sh - a trace.dat above 4 GiB: as many events as happened, also where places in the file need more than 32 bits, in
# memory that does not grow with it; sealed, and sealed by --recover after recorder was killed.
# limit: 400
. "$LIVE/lib.sh"
need trace-cmd python3 taskset

# The spool and the file it becomes are there together for a while.
free=$(df --output=avail -k . | tail -n 1)
[ "$free" -ge $((12 << 20)) ] || { skip "bigdat" "less than 12 GiB are free in ${scratch%/*}"; exit 0; }
[ "$(nproc)" -ge 2 ] || { skip "bigdat" "one CPU: the last events are told from the others by theirs"; exit 0; }

# A text nearly fills a page of the file, so each takes one: more of them on CPU 0 than 4 GiB have room for, the last ones on
# CPU 1, which lies behind it in the file.
first=$(((1 << 20) + 5000)) last=20000
cat > writes.py <<'END_OF_PROGRAM'
import glob, os, sys, time
first, last, spool = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
fd = os.open("/dev/null", os.O_WRONLY)
pad = b"x" * 3960
os.sched_setaffinity(0, {0})
for i in range(first + last):
    if i == first:
        os.sched_setaffinity(0, {1})
    os.write(fd, b"event %08d " % i + pad)
    if i % 512 == 0:	# no more is outstanding than a buffer holds, however slow disk and recorder are
        while i * 4096 > sum(map(os.path.getsize, glob.glob(spool + "/cpu*"))) + (8 << 20):
            time.sleep(0.002)
open("done", "w").close()
time.sleep(float(sys.argv[4]))
END_OF_PROGRAM

big() { exec "$RECORDER" --no-functions --no-events --compression none -b 32M --memory 64M -s 4000 --format trace-dat -o "$1" -- \
	python3 writes.py $first $last "$1.part" "$2" 2> "$1.err"; }
kb() { sed -n "s/^$2:[[:space:]]*\([0-9]*\) kB/\1/p" /proc/"$1"/status 2> /dev/null; }
# The peak of process $1 until it ends or the file $2 is there, KiB.
peak() {
	local most=0 now
	until [ -e "$2" ]; do
		now=$(kb "$1" VmHWM)
		[ -n "$now" ] || break
		most=$now
		sleep 0.1
	done
	echo $most
}
bytes() { stat -c %s "$1" 2> /dev/null || echo 0; }

# "FIRST LAST COUNT" of the numbers that were written, in a report; a number that is not the one after that before it: "gap".
numbers() {
	cut -c 1-200 | sed -n 's/.* sys_enter_write: .*"event 0*\([0-9][0-9]*\) x.*/\1/p' |
		awk 'NR == 1 { first = $1 } NR > 1 && $1 != last + 1 { print "gap: " last, $1 } { last = $1 } END { print first, last, NR }'
}
# What lies behind 4 GiB: quickly read, as it is one CPU's.
behind() { trace-cmd report -i "$1" --cpu 1 2>> complaints | numbers; }
# The report of all of it is as long as the file: how many events, and their numbers.
whole() {
	trace-cmd report -i "$1" 2>> complaints | tee >(numbers > numbers.out) | cut -c 1-100 |
		awk '/ sys_enter_/ { enter++ } / sys_exit_/ { leave++ } / sys_enter_exit/ { last++ } END { print enter + 0, leave + 0, last + 0 }' > counts.out
	while [ ! -s numbers.out ]; do sleep 0.1; done
}

# --- written and sealed ---
start=$SECONDS
big big.dat 0 &
pid=$!
# Its buffers have been used and the kernel's types were read by then.
until [ "$(bytes big.dat.part/cpu0)" -gt $((1 << 30)) ] || [ ! -d /proc/$pid ]; do sleep 0.1; done
early=$(kb $pid VmHWM)
late=$(peak $pid .big.dat.new)
echo 5 > /proc/$pid/clear_refs		# its peak is what it has now
resident=$(kb $pid VmHWM) sealing=$SECONDS
sealed=$(peak $pid big.dat)
wait $pid
check "recorder ends well" equal $? 0
echo "written in $((sealing - start)) s, sealed in $((SECONDS - sealing)) s; peak at 1 GiB $early KiB, at the end $late, sealing $resident to $sealed" >&2
check "the file is longer than 4 GiB" [ "$(bytes big.dat)" -gt $((1 << 32)) ]
check "nothing was lost" grep -q 'lost: nothing' big.dat.err
# By then CPU 0's buffer has been used; CPU 1's, mapped twice, and what may wait for the disk are all that may be more.
check "memory does not grow while it is written" [ "${early:-0}" -gt 0 -a "$late" -le $((early + ((64 + 64) << 10))) ]
# It is copied in steps of 1 MiB; what describes the events is small.
check "... nor while it is sealed" [ "${resident:-0}" -gt 0 -a "$sealed" -le $((resident + (8 << 10))) ]

# --- read ---
calls=$(sed -n 's/.* function calls, \([0-9]*\) syscalls.*/\1/p' big.dat.err)
start=$SECONDS
whole big.dat
echo "reported in $((SECONDS - start)) s" >&2
check "as many system calls as the summary says" equal "$(cut -d' ' -f 1 counts.out)" "$calls"
check "... each ends, but a task's last" equal "$(awk '{ print $2 + $3 }' counts.out)" "$calls"
check "every text in its place" equal "$(cat numbers.out)" "0 $((first + last - 1)) $((first + last))"
check "a CPU that lies behind 4 GiB, alone" equal "$(behind big.dat)" "$first $((first + last - 1)) $last"
trace-cmd dump --summary --options -i big.dat > dump.out 2>&1
check "dump --summary" equal "$? $(grep -c '\[Option BUFFER' dump.out)" "0 1"
check "dump --validate" trace-cmd dump --validate -i big.dat
rm -f big.dat done

# --- killed and recovered ---
big killed.dat 60 &
pid=$!
until [ -e done ] || [ ! -d /proc/$pid ]; do sleep 0.1; done
sleep 3			# until all of it is in the spool: that is each second's work
child=$(pgrep -P $pid -f writes.py)
kill -9 $pid $child
wait $pid 2> /dev/null
check "killed, it leaves what is longer than 4 GiB" [ "$(bytes killed.dat.part/cpu0)" -gt $((1 << 32)) ]
start=$SECONDS
"$RECORDER" --recover killed.dat > recover.out 2>&1 &
pid=$!
most=$(peak $pid killed.dat)
wait $pid
check "--recover seals it" equal $? 0
echo "recovered in $((SECONDS - start)) s, peak $most KiB" >&2
check "... in little memory" [ "$most" -gt 0 -a "$most" -le $((32 << 10)) ]
check "... nothing of it was cut short" equal "$(grep -c 'are gone\|no place' recover.out)" 0
check "... longer than 4 GiB" [ "$(bytes killed.dat)" -gt $((1 << 32)) ]
check "... with the last events" equal "$(behind killed.dat)" "$first $((first + last - 1)) $last"
check "... of which all are told" equal "$(trace-cmd report -i killed.dat --stat 2> /dev/null |
	awk '/^read events:/ { n += $3 } END { print (n >= 2 * '$((first + last))') }')" 1
check "trace-cmd never complained" equal "$(sort complaints | uniq | head -n 3)" ""

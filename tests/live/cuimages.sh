# cuimages.sh - code images that the CUDA driver is given are in the NEUTRINO folder as they were at the call, or why not is said.
. "$LIVE/lib.sh"
need python3
program cuimages "$script" || exit 0
export LD_LIBRARY_PATH=$PROGRAMS/fakecuda
mkfifo go && mkdir own

# What the program says of each image, as the folder is to say it: a file's sum and size, or a word.
wanted() {
	local word
	while read -r _ word; do
		case $word in
		ptx) echo "${ptx:-none}" ;;
		image.*) echo "$(sha1sum < "own/$word" | cut -d' ' -f1) $(stat -c %s "own/$word")" ;;
		*) echo "$word" ;;
		esac
	done < "$1"
}
found() {
	sed -nE 's|^\[recorder\] image module/([0-9a-f]+)\.bin size ([0-9]+)$|\1 \2|p
		 s/^\[recorder\] image not saved: it is longer than.*/long/p
		 s/^\[recorder\] image not saved: it could not be read to its end/broken/p
		 s/^\[mod\] cuModuleLoadData 200 .*/nothing/p' "$1"/*/event.log
}

# The program waits until all but its last image are in the folder: what it has mapped is read while it is there.
{ for ((i = 0; i < 200; i++)); do
	[ -s said ] && [ "$(found images | wc -l)" -ge "$(wc -l < said)" ] && break
	sleep 0.1
done; } > go 8>&- &
record images --format neutrino --no-functions -- "$PROGRAMS/cuimages" own < go > said
check "the program ends as alone" equal $? 0
wait
ptx=$(found images | head -n 1)
check "each image is what it was at its call, or it is said why not" diff <(wanted said) <(found images)
check "a content is there once" equal "$(ls images/*/module | wc -l)" "$(wanted said | grep ' ' | sort -u | wc -l)"
check "and is what its name says" equal "$(cd images/*/module && sha1sum -- *.bin | awk '{ print $1 ".bin" }')" "$(ls images/*/module)"
check "nothing is lost" grep -q "lost: nothing" images.err

# Where no format takes them, nothing is taken; raw keeps them for later, but not what lies in files.
record none --format uftrace,raw --cuda --no-functions --no-syscalls -- "$PROGRAMS/cuimages" own < /dev/null > said
# What is longer than 1 MiB is not taken along.
taken() { wanted said | awk 'NF < 2 || $2 <= 1048576'; }
"$RECORDER" -q --replay none/recording.raw --format neutrino -o again
check "a replay has those that were taken along" diff <(taken) <(found again)
check "and says of the others why not" grep -q "not looked at when a recording is replayed" again/*/event.log
record taken --format raw --cuda --no-functions --no-syscalls -- "$PROGRAMS/cuimages" own < /dev/null > said
kinds() { python3 "$LIVE/rawcount.py" "$1/recording.raw" | awk '/^stored/ { print $6 }'; }
calls() { sed -nE 's/.* ([0-9]+) CUDA calls.*/\1/p' "$1.err"; }
check "raw has the pieces" test "$(kinds taken)" -gt $((2 * $(calls taken) + $(taken | awk '{ n += $2 } END { print int(n / 4096) }')))
# A piece that is lost is missed, whatever the others are.
record lossy --format neutrino --no-functions --no-syscalls --simulate-drops 97 -- "$PROGRAMS/cuimages" own < /dev/null > said
for f in lossy/*/module/*.bin; do
	grep -q "^$(basename "$f" .bin) " <(wanted said) || [ "$(basename "$f" .bin)" = "${ptx% *}" ] || echo "$f"
done > wrong
check "none is saved that is not whole" equal "$(cat wrong)" ""

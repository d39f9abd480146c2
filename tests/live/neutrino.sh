# neutrino.sh - NEUTRINO folders are read by a reader made from the format's description, and by their own.
. "$LIVE/lib.sh"
need python3
unit=$LIVE/../../build/unit
read_folder() { python3 "$LIVE/neutrino-read.py" "$@"; }

# What NEUTRINO's own driver wrote. In the first the block is no whole number of warps: its driver says 136 for 160.
ref=$LIVE/neutrino-ref
read_folder --sections "$ref/0.111622.bin" "$ref/0.111744.bin" > sections
check "its own bins are read, where it was wrong too" diff sections - <<'END'
(16, 32, 64) (16, 1, 136) at 64 160 bytes as they should be
(16, 32, 64) (16, 1, 192) at 64 192 bytes as they should be
END

[ -x "$unit" ] || { skip "folders of the sink" "build/unit is not there"; exit 0; }
NEUTRINO_OUT=$PWD "$unit" neutrino_folder_for_readers > unit.out 2>&1
check "a folder is made" grep -q "^1 passed" unit.out
folder=$(ls -d "$PWD"/neutrino/Nov14_*)
check "both readers read all of it, and its files agree" read_folder "$folder"
check "all that was told is there" equal "$(read_folder "$folder")" \
	"16 bins, 18 launches, 1 not run, 16 complete, 3 rows of memory"
for script in read.py read_launches.py read_mem.py; do
	check "$script runs by itself" python3 "$folder/$script"
done
python3 "$folder/read.py" "$folder/result/0.000000.bin" > shown
check "read.py shows a record" grep -q 'block 0 host_launch(entry_ns=1000000000,' shown

# A folder that is damaged is found to be: the reader can fail.
cp -r "$folder" damaged
printf '\1' | dd of="$(ls damaged/result/0.*.bin | tail -n 1)" bs=1 seek=44 conv=notrunc 2> dd.err
read_folder damaged 2> damaged.err
check "a wrong offset is seen" equal "$? $(grep -c offset damaged.err)" "1 1"

"$RECORDER" --no-functions --no-syscalls --format neutrino -o none true > none.out 2> none.err
check "without a call of the driver that is said" grep -q "format 'neutrino' has nothing" none.err
check "and the directory is marked as ours" test -e none/.recorder
"$RECORDER" -q --no-functions --format neutrino -o none true 2> again.err
check "a second recording moves it aside" test -e none.old/.recorder
mkdir precious && touch precious/file
"$RECORDER" -q --no-functions --format neutrino -o precious true 2> precious.err
check "what is not ours is not touched" equal "$? $(ls -A precious)" "125 file"
check "and that is said" grep -q "will not write over 'precious'" precious.err

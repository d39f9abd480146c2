# damage.sh - raw recordings that are not whole: what came before the damage is shown, and the damage is told of.

# A recording of three rounds; where its blocks begin is said by blocks.
three_rounds() {
	story <<-'EOF'
		image /opt/prog main a b
		100 exec /opt/prog
		110 main {
		120..130 a
		round 135
		140..150 b
		round 155
		160 }
		170 exit 0
	EOF
}

# Byte at which block N of raw begins; the image is block 0, the facts are block 4.
block() {
	python3 - "$1" <<-'EOF'
		import struct, sys
		data, at = open("raw", "rb").read(), 8
		for i in range(int(sys.argv[1])):
		    at += 16 + struct.unpack_from("=Q", data, at + 8)[0]
		print(at)
	EOF
}

# put OFFSET BYTES: over what is there, BYTES as printf has them.
put() { printf "$2" | dd of=raw bs=1 seek="$1" conv=notrunc status=none; }

begin "a recording without its end: the facts of this host stand in"
three_rounds
truncate -s "$(block 4)" raw
replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b();
	} /* main */
EOF
got_from grep warning said
expect <<-'EOF'
	recorder: warning: 'raw' was not finished; the facts of this host stand in for its own
EOF

begin "a recording cut between two rounds"
three_rounds
truncate -s "$(block 3)" raw
replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b();
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[0] main
EOF

begin "a recording cut in the middle of a round"
three_rounds
truncate -s "$(($(block 2) + 60))" raw
want_status=1 replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[0] main
EOF
got_from grep damaged said
expect <<-'EOF'
	recorder: warning: 'raw' is damaged: what came before the damage is written
EOF

begin "a record of no known kind: its round is shown up to it"
three_rounds
put $(($(block 2) + 16 + 16 + 8 + 40 + 16)) '\x63\0'
want_status=1 replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b() {
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[1] b
	[0] main
EOF

begin "a length that is wild"
three_rounds
put $(($(block 3) + 8)) '\xff\xff\xff\xff\xff\xff\xff\xff'
want_status=1 replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b();
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[0] main
EOF

begin "an image that is damaged: its recording ends there"
three_rounds
put $(($(block 0) + 16)) 'x'
want_status=1 replay raw
got_from grep -v 'not finished' said
expect <<-'EOF'
	recorder: warning: 'raw' is damaged: what came before the damage is written
EOF

begin "facts that are damaged"
three_rounds
put $(($(block 4) + 8)) '\x10'
want_status=1 replay raw
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b();
	} /* main */
EOF

begin "what is no recording at all is refused in two lines"
for what in empty text elf; do
	case $what in
	empty) : > raw ;;
	text) echo "this is not a recording" > raw ;;
	elf) head -c 10000 "$recorder" > raw ;;
	esac
	want_status=2 replay raw
	[ ! -e out ] || wrong "$what: a directory was made of it"
	got_from cat said
	expect <<-'EOF'
		recorder: 'raw' is not a raw recording
		recorder: try: recorder --format raw -o DIR -- CMD makes one: DIR/recording.raw
	EOF
done

begin "a recording in which nothing happened"
story < /dev/null
replay raw
got_from cat said
expect <<-'EOF'
EOF

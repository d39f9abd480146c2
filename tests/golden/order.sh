# order.sh - the records of many CPUs and rounds: one order of time.

begin "records of two CPUs are put into one order"
record <<-'EOF'
	image /opt/prog main a b c
	100 exec /opt/prog
	110 main {
	120 thread 101
	130..180 100/101 c cpu=1
	125..175 a
	round 140
	200..210 b cpu=1
	205..215 100/101 b
	round 300
	250 }
EOF
uf replay -f tid,time
expect <<-'EOF'
	#   TID        TIMESTAMP       FUNCTION
	 [   100]        0.000000110 | main() {
	 [   100]        0.000000125 |   a() {
	 [   101]        0.000000130 | c() {
	 [   100]        0.000000175 |   } /* a */
	 [   101]        0.000000180 | } /* c */
	 [   100]        0.000000200 |   b() {
	 [   101]        0.000000205 | b() {
	 [   100]        0.000000210 |   } /* b */
	 [   101]        0.000000215 | } /* b */
	 [   100]        0.000000250 | } /* main */
EOF

begin "a task that moves from CPU to CPU"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a { cpu=1
	130 b { cpu=2
	140 } cpu=0
	150 } cpu=1
	160 }
EOF
uf replay -f time
expect <<-'EOF'
	#     TIMESTAMP       FUNCTION
	        0.000000110 | main() {
	        0.000000120 |   a() {
	        0.000000130 |     b();
	        0.000000150 |   } /* a */
	        0.000000160 | } /* main */
EOF

begin "records that come a round later than those behind them are put before them"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	round 125
	150 }
	160 }
	round 165
	130..140 b sp=0x7ffff9bfdd00 cpu=1
	round 170
EOF
uf replay -f time
expect <<-'EOF'
	#     TIMESTAMP       FUNCTION
	        0.000000110 | main() {
	        0.000000120 |   a() {
	        0.000000130 |     b();
	        0.000000150 |   } /* a */
	        0.000000160 | } /* main */
EOF

begin "a record that comes too late is shown at the time of those before it"
record <<-'EOF'
	image /opt/prog main a late
	100 exec /opt/prog
	110 main {
	120..130 a
	round 140
	150..155 a
	round 160
	round 161
	170 }
	round 180
	105 100/101 late { cpu=1
	106 100/101 } cpu=1
	175 exit 0
EOF
uf replay -f tid,time
expect <<-'EOF'
	#   TID        TIMESTAMP       FUNCTION
	 [   100]        0.000000110 | main() {
	 [   100]        0.000000120 |   a();
	 [   100]        0.000000150 |   a();
	 [   101]        0.000000155 | late();
	 [   100]        0.000000170 | } /* main */
EOF
got_from grep late said
expect <<-'EOF'
	recorder: came late, and stand behind later ones: 2 records
EOF

begin "a chunk that is not in order"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 lost main {
	120 a {
	130 }
	160 }
	110 main {
EOF
uf replay -f time
expect <<-'EOF'
	#     TIMESTAMP       FUNCTION
	        0.000000110 | main() {
	        0.000000120 |   a();
	        0.000000160 | } /* main */
EOF

begin "records of one time stay as they came"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	110 a {
	110 b {
	110 }
	110 }
	110 }
EOF
uf replay -f time
expect <<-'EOF'
	#     TIMESTAMP       FUNCTION
	        0.000000110 | main() {
	        0.000000110 |   a() {
	        0.000000110 |     b();
	        0.000000110 |   } /* a */
	        0.000000110 | } /* main */
EOF

begin "many rounds, each with a part of one call"
{
	echo "image /opt/prog main a"
	echo "100 exec /opt/prog"
	echo "110 main {"
	for i in $(seq 100); do
		echo "$((200 + i * 10)) a { cpu=$((i % 3))"
		echo "round $((203 + i * 10))"
		echo "$((205 + i * 10)) } cpu=$(((i + 1) % 3))"
		echo "round $((207 + i * 10))"
	done
	echo "2000 }"
} | record
uf report
expect <<-'EOF'
	  Total time   Self time       Calls  Function
	  ==========  ==========  ==========  ====================
	    1.890 us    1.390 us           1  main
	    0.500 us    0.500 us         100  a
EOF

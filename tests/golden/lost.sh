# lost.sh - records that were lost: all of them are shown, once.

begin "what a task lost is shown where it happened"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	130 task-lost 0 0 7
	140..150 b
	160 }
	170 }
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	            |   a() {
	            |     records_lost() {
	            |         /* LOST 7 records!! */
	   0.010 us |     b();
	   0.040 us |   } /* a */
	   0.060 us | } /* main */
EOF

begin "of all classes together"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	130 task-lost 1 20 300
	140..150 a
	170 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  records_lost() {
	      /* LOST 321 records!! */
	  a();
	} /* main */
EOF

begin "in a system call, behind it"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120 read(0, "x", 1) {
	130 task-lost 0 2 0
	140 } = 1
	150 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_read(0, "x", 1) = 1;
	  records_lost() {
	      /* LOST 2 records!! */
	} /* main */
EOF

begin "where nothing is open"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110..115 main
	120 task-lost 0 0 3
	130..140 a
EOF
uf replay -f none
expect <<-'EOF'
	main();
	records_lost() {
	    /* LOST 3 records!! */
	a();
EOF

begin "in a task of which nothing else is left"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120 100/101 task-lost 0 0 3
	130 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | records_lost() {
	 [   101] |     /* LOST 3 records!! */
	 [   100] | } /* main */
	uftrace stopped tracing with remaining functions
	================================================
	task: 101
	[0] records_lost
EOF

begin "what no task tells of is shown at the end"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 cpu-lost 1 2 3 cpu=0
	130..140 a
	150 cpu-lost 10 20 30 cpu=1
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	} /* main */
	records_lost() {
	    /* LOST 66 records!! */
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[0] records_lost
EOF
got_from sed -n '/lost:/s/;.*//p' said
expect <<-'EOF'
	recorder: lost: 33 function, 22 syscall, 11 task records
EOF

begin "what a task and a CPU both tell of is shown once"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 task-lost 0 0 5
	121 cpu-lost 0 2 8 cpu=0
	130..140 a
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  records_lost() {
	      /* LOST 5 records!! */
	  a();
	} /* main */
	records_lost() {
	    /* LOST 5 records!! */
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[0] records_lost
EOF

begin "more than a reader's int can count"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120 task-lost 0 0 5000000000
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  records_lost() {
	      /* LOST 2147483647 records!! */
	  records_lost() {
	      /* LOST 2147483647 records!! */
	  records_lost() {
	      /* LOST 705032706 records!! */
	} /* main */
EOF

begin "the calls of a task that lost records are as deep as they are"
record <<-'EOF'
	image /opt/prog main a b c d
	100 exec /opt/prog
	110 main {
	120 a {
	130 lost b {
	135 lost c {
	138 task-lost 0 0 2
	140 d {
	150 }
	160 lost }
	165 task-lost 0 0 1
	170 }
	180 }
	190 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    records_lost() {
	        /* LOST 2 records!! */
	    d();
	    records_lost() {
	        /* LOST 1 records!! */
	  } /* a */
	} /* main */
EOF

begin "nothing lost, nothing shown"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	115 task-lost 0 0 0
	120 cpu-lost 0 0 0
	130 }
EOF
uf replay -f none
expect <<-'EOF'
	main();
EOF
got_from grep lost: said
expect <<-'EOF'
	recorder: lost: nothing
EOF

begin "the graph keeps its balance"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 task-lost 0 0 5
	121..122 a
	126 }
	130 cpu-lost 0 0 9
EOF
uf graph
expect <<-'EOF'
	# Function Call Graph for 'prog' (session: 0000000000000001)
	========== FUNCTION CALL GRAPH ==========
	# TOTAL TIME   FUNCTION
	    0.016 us : (1) prog
	    0.016 us :  +-(1) main
	    0.001 us :  | (1) records_lost
	             :  |
	             :  +-(1) records_lost
EOF

# calls.sh - functions: where each begins and ends, also when not all of it was seen.

begin "nested calls are nested"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	130..140 b
	150 }
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    b();
	  } /* a */
	} /* main */
EOF

begin "times are those of the records"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	1000 main {
	2000 a {
	3000..3500 b
	4000 }
	10000 }
EOF
uf replay -f duration,time,tid
expect <<-'EOF'
	# DURATION     TID        TIMESTAMP       FUNCTION
	            [   100]        0.000001000 | main() {
	            [   100]        0.000002000 |   a() {
	   0.500 us [   100]        0.000003000 |     b();
	   2.000 us [   100]        0.000004000 |   } /* a */
	   9.000 us [   100]        0.000010000 | } /* main */
EOF
uf report
expect <<-'EOF'
	  Total time   Self time       Calls  Function
	  ==========  ==========  ==========  ====================
	    9.000 us    7.000 us           1  main
	    2.000 us    1.500 us           1  a
	    0.500 us    0.500 us           1  b
EOF
uf graph
expect <<-'EOF'
	# Function Call Graph for 'prog' (session: 0000000000000001)
	========== FUNCTION CALL GRAPH ==========
	# TOTAL TIME   FUNCTION
	    9.000 us : (1) prog
	    9.000 us : (1) main
	    2.000 us : (1) a
	    0.500 us : (1) b
EOF

begin "a recursion has the depth it has"
record <<-'EOF'
	image /opt/prog main down
	100 exec /opt/prog
	110 main {
	120 down {
	130 down {
	140 down {
	150 }
	160 }
	170 }
	180 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  down() {
	    down() {
	      down();
	    } /* down */
	  } /* down */
	} /* main */
EOF

begin "a recursion deeper than a record's ten bits of depth"
{
	echo "image /opt/prog main down"
	echo "1 exec /opt/prog"
	echo "2 main {"
	for i in $(seq 1500); do echo "$((10 + i)) down {"; done
	for i in $(seq 1500); do echo "$((2000 + i)) }"; done
	echo "9000 }"
} | record
uf report -D 65534
expect <<-'EOF'
	  Total time   Self time       Calls  Function
	  ==========  ==========  ==========  ====================
	    8.998 us    5.509 us           1  main
	    3.489 us    3.489 us        1500  down
EOF
uf replay -f none -D 65534
got_from grep -c '^ *down() {$\|^ *} /. down .*$' got
expect <<-'EOF'
	2998
EOF

begin "a lost return is closed by the return of its caller"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 a {
	130 lost }
	170 }
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	   0.050 us |   a();
	   0.060 us | } /* main */
EOF

begin "a lost return is closed by the next call of its caller"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	130 lost }
	150..160 b
	170 }
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	   0.030 us |   a();
	   0.010 us |   b();
	   0.060 us | } /* main */
EOF

begin "lost entries and returns, in the middle of a deep stack"
record <<-'EOF'
	image /opt/prog main a b c d
	100 exec /opt/prog
	110 main {
	120 a {
	130 lost b {
	140 c {
	150 lost }
	160..170 d
	180 lost }
	190 }
	200 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    c();
	    d();
	  } /* a */
	} /* main */
EOF

begin "a return whose entry was lost shows nothing"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 lost a {
	130 }
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main();
EOF

begin "longjmp() leaves every frame between"
record <<-'EOF'
	image /opt/prog main a b _setjmp@ longjmp@ after
	100 exec /opt/prog
	110 main {
	115..116 _setjmp
	120 a {
	130 b {
	140 longjmp {
	150 leave 3
	160..170 after
	180 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  _setjmp();
	  a() {
	    b() {
	      longjmp ();
	    } /* b */
	  } /* a */
	  after();
	} /* main */
EOF

begin "longjmp() to a frame that only returns"
record <<-'EOF'
	image /opt/prog main a longjmp@
	100 exec /opt/prog
	110 main {
	120 a {
	130 longjmp {
	140 leave 2
	150 }
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	            |   a() {
	   0.020 us |     longjmp ();
	   0.030 us |   } /* a */
	   0.040 us | } /* main */
EOF

begin "an exception: what is called while it unwinds lies in the frame that catches it"
record <<-'EOF'
	image /opt/prog main _Z5throwi _ZN5guardD1Ev catch_it __cxa_throw@
	100 exec /opt/prog
	110 main {
	120 catch_it {
	130 _Z5throwi {
	140 _Z5throwi {
	150 __cxa_throw {
	160..170 _ZN5guardD1Ev sp=0x7fffd0000000
	180 leave 3
	190..200 _ZN5guardD1Ev
	210 }
	220 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  catch_it() {
	    throw() {
	      throw() {
	        __cxa_throw() {
	          guard::~guard();
	        } /* __cxa_throw */
	      } /* throw */
	    } /* throw */
	    guard::~guard();
	  } /* catch_it */
	} /* main */
EOF

begin "a tail call runs inside its caller, and both return at once"
record <<-'EOF'
	image /opt/prog main a b c
	100 exec /opt/prog
	110 main {
	120 a {
	130 jump b {
	140 jump c {
	150 }
	160..170 a
	180 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    b() {
	      c();
	    } /* b */
	  } /* a */
	  a();
	} /* main */
EOF

begin "a call where a lost return left one: told apart from a tail call by how it came there"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	130 lost }
	140..150 b
	160 a {
	170 lost }
	180 maybe b {
	190 }
	200 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  b();
	  a() {
	    b();
	  } /* a */
	} /* main */
EOF

begin "functions whose returns are not probed end where the next one shows it"
record <<-'EOF'
	image /opt/prog main.main main.work main.leaf
	100 exec /opt/prog
	110 only main.main {
	120 only main.work {
	130 only main.leaf {
	140 leave 1
	150 only main.leaf {
	160 leave 2
	170 only main.work {
	180 exit 0
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main.main() {
	            |   main.work() {
	   0.020 us |     main.leaf();
	   0.020 us |     main.leaf();
	   0.050 us |   } /* main.work */
	   0.010 us |   main.work();
	   0.070 us | } /* main.main */
EOF

begin "a signal's own stack closes nothing of the other"
record <<-'EOF'
	image /opt/prog main work handler inner
	100 exec /opt/prog
	110 main {
	120 work {
	130 handler { sp=0x555560001000
	140 inner { sp=0x555560000f00
	150 }
	160 }
	170 }
	180 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  work() {
	    handler() {
	      inner();
	    } /* handler */
	  } /* work */
	} /* main */
EOF

begin "a signal's stack that was left by siglongjmp()"
record <<-'EOF'
	image /opt/prog main work handler siglongjmp@ after
	100 exec /opt/prog
	110 main {
	120 work {
	130 handler { sp=0x555560001000
	140 siglongjmp { sp=0x555560000f00
	150 leave 3
	160..170 after
	180 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  work() {
	    handler() {
	      siglongjmp ();
	    } /* handler */
	  } /* work */
	  after();
	} /* main */
EOF

begin "a function probed without a cookie is found by its address"
record <<-'EOF'
	image /opt/prog main a b puts@
	100 exec /opt/prog
	110 main { ip=0x555500001000
	120 a { ip=0x555500001025
	130..140 puts ip=0x555500001060
	150 } ip=0
	160 } ip=0
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    puts();
	  } /* a */
	} /* main */
EOF

begin "a function of no image has no name, but its place"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120..130 a func=77
	140..150 a ip=0x123456
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  unknown();
	  unknown();
	} /* main */
EOF

begin "an image that is known only after its functions were called"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	115 map /opt/lib.so addr=0x7f0000000000
	120 a {
	round
	image /opt/lib.so lib_begin lib_end addr=0x7f0000000000
	130..140 lib_begin
	150 }
	160 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a() {
	    lib_begin();
	  } /* a */
	} /* main */
EOF

begin "a program that ends inside its calls: they end with it"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 a {
	130 b {
	140 exit_group(3) {
	150 exit 0x300
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	            |   a() {
	            |     b() {
	   0.010 us |       sys_exit_group(3);
	   0.020 us |     } /* b */
	   0.030 us |   } /* a */
	   0.040 us | } /* main */
EOF

begin "a program killed by a signal"
record <<-'EOF'
	image /opt/prog main a
	about status=139
	100 exec /opt/prog
	110 main {
	120 a {
	130 exit 139
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	   0.010 us |   a();
	   0.020 us | } /* main */
EOF
uf info
got_from grep '^# exit status' got
expect <<-'EOF'
	# exit status         : terminated by signal: 11 (Segmentation fault)
EOF

begin "a recording that ends while the program runs on"
record <<-'EOF'
	image /opt/prog main a
	unfinished
	100 exec /opt/prog
	110 main {
	120..130 a
	140 a {
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  a() {
	uftrace stopped tracing with remaining functions
	================================================
	task: 100
	[1] a
	[0] main
EOF

# tasks.sh - processes, threads and programs: whose record is whose.

begin "a forked child begins with no open call, and returns through its parent's in silence"
record <<-'EOF'
	image /opt/prog main a b
	100 exec /opt/prog
	110 main {
	120 fork() {
	123 fork 101
	125 } = 101
	126 101 } = 0
	130 101 a {
	140 101 b {
	150 101 }
	160 101 }
	165 101 }
	170 101 exit 0
	180..190 wait4(-1, 0, 0, 0) = 101
	200 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   100] |   sys_fork() = 101;
	 [   101] | a() {
	 [   101] |   b();
	 [   101] | } /* a */
	 [   100] |   sys_wait4(-1, NULL, 0, NULL) = 101;
	 [   100] | } /* main */
EOF
uf info
got_from grep -E '^# (number of tasks|task list)' got
expect <<-'EOF'
	# number of tasks     : 2
	# task list           : 100(prog), 101(prog)
EOF

begin "a fork and an exec: each program has its own functions"
record <<-'EOF'
	image /opt/prog main a
	image /opt/child main work
	100 exec /opt/prog
	110 main {
	120 fork 101
	130 101 a {
	140 101 execve("/opt/child", 0, 0) {
	150 101 exec /opt/child
	155 101 } = 0
	160 101 main {
	165 a {
	170..180 101 /opt/child:work
	185 }
	190 101 }
	200 101 exit 0
	210 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | a() {
	 [   101] |   sys_execve("/opt/child", NULL, NULL) = 0;
	 [   101] | } /* a */
	 [   101] | main() {
	 [   100] |   a() {
	 [   101] |   work();
	 [   100] |   } /* a */
	 [   101] | } /* main */
	 [   100] | } /* main */
EOF
uf info
got_from grep '^# task list' got
expect <<-'EOF'
	# task list           : 100(prog), 101(child)
EOF

begin "vfork(): the parent waits in it while the child becomes another program"
record <<-'EOF'
	image /opt/prog main after
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	115 vfork() {
	120 fork 101
	130 101 execve("/opt/other", 0, 0) {
	140 101 exec /opt/other
	141 } = 101
	145 101 } = 0
	150..160 after
	170..180 101 other_main
	190 }
EOF
uf replay -f tid,duration
expect <<-'EOF'
	# DURATION     TID     FUNCTION
	            [   100] | main() {
	            [   100] |   sys_vfork() {
	   0.010 us [   101] | sys_execve("/opt/other", NULL, NULL) = 0;
	   0.026 us [   100] |   } = 101; /* sys_vfork */
	   0.010 us [   100] |   after();
	   0.010 us [   101] | other_main();
	   0.080 us [   100] | } /* main */
EOF

begin "exec after exec in one process"
record <<-'EOF'
	image /opt/prog main
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	120 execve("/opt/other", 0, 0) {
	130 exec /opt/other
	135 } = 0
	140 other_main {
	145 execve("/opt/nothing", 0, 0) {
	146 } = -2
	150 execve("/opt/prog", 0, 0) {
	160 exec /opt/prog
	165 } = 0
	170..180 main
	190 exit 0
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_execve("/opt/other", NULL, NULL) = 0;
	} /* main */
	other_main() {
	  sys_execve("/opt/nothing", NULL, NULL) = ENOENT;
	  sys_execve("/opt/prog", NULL, NULL) = 0;
	} /* other_main */
	main();
EOF

begin "exec without system calls recorded"
record <<-'EOF'
	image /opt/prog main
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	130 exec /opt/other
	170..180 other_main
	190 exit 0
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	   0.020 us | main();
	   0.010 us | other_main();
EOF

begin "threads, each with its own calls"
record <<-'EOF'
	image /opt/prog main run work
	100 exec /opt/prog
	110 main {
	121 thread 101
	122 100/101 run {
	124 thread 102 cpu=1
	125 100/102 run { cpu=1
	130..140 100/101 work
	131..141 100/102 work cpu=1
	150 100/101 }
	151 100/101 exit 0
	152 100/102 } cpu=1
	153 100/102 exit 0 cpu=1
	160 }
	170 exit 0
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | run() {
	 [   102] | run() {
	 [   101] |   work() {
	 [   102] |   work() {
	 [   101] |   } /* work */
	 [   102] |   } /* work */
	 [   101] | } /* run */
	 [   102] | } /* run */
	 [   100] | } /* main */
EOF
uf report
expect <<-'EOF'
	  Total time   Self time       Calls  Function
	  ==========  ==========  ==========  ====================
	    0.055 us    0.035 us           2  run
	    0.050 us    0.050 us           1  main
	    0.020 us    0.020 us           2  work
EOF

begin "a thread that is not the leader execs: it goes on under the leader's id"
record <<-'EOF'
	image /opt/prog main run
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	120 thread 101
	130 100/101 run {
	140 100/101 execve("/opt/other", 0, 0) {
	150 exec /opt/other old=101
	160 } = 0
	170..180 other_main
	190 exit 0
EOF
uf replay -f tid,duration
expect <<-'EOF'
	# DURATION     TID     FUNCTION
	            [   100] | main() {
	            [   101] | run() {
	            [   101] |   sys_execve("/opt/other", NULL, NULL) {
	   0.040 us [   100] | } /* main */
	   0.010 us [   101] |   } = 0; /* sys_execve */
	   0.020 us [   101] | } /* run */
	   0.010 us [   100] | other_main();
EOF

begin "a process that ends with threads inside their calls"
record <<-'EOF'
	image /opt/prog main run
	100 exec /opt/prog
	110 main {
	120 thread 101
	130 100/101 run {
	140 100/101 futex(0x1000, 128, 1, 0) {
	150 exit_group(0) {
	160 100/101 exit 0
	170 exit 0
EOF
uf replay -f tid,duration
expect <<-'EOF'
	# DURATION     TID     FUNCTION
	            [   100] | main() {
	            [   101] | run() {
	            [   101] |   sys_futex(0x1000, FUTEX_WAIT_PRIVATE, 1, NULL) {
	            [   100] |   sys_exit_group(0) {
	   0.020 us [   101] |   } /* sys_futex */
	   0.030 us [   101] | } /* run */
	   0.020 us [   100] |   } /* sys_exit_group */
	   0.060 us [   100] | } /* main */
EOF

begin "a task whose beginning was lost is one of the recording all the same"
record <<-'EOF'
	image /opt/prog main work
	100 exec /opt/prog
	110 main {
	115 lost thread 150
	120..130 100/150 work
	140 lost fork 200
	145..150 200 work
	160 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   150] | work();
	 [   200] | work();
	 [   100] | } /* main */
EOF

begin "a child whose fork was lost, then its exec"
record <<-'EOF'
	image /opt/prog main
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	115 lost fork 101
	120 101 execve("/opt/other", 0, 0) {
	130 101 exec /opt/other
	135 101 } = 0
	140..150 101 other_main
	160 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | sys_execve("/opt/other", NULL, NULL) = 0;
	 [   101] | other_main();
	 [   100] | } /* main */
EOF

begin "an exec that was lost: its functions have their names at least"
record <<-'EOF'
	image /opt/prog main
	image /opt/other other_main other_work
	100 exec /opt/prog
	110 main {
	120 lost exec /opt/other
	130 other_main {
	140..150 other_work
	160 }
	170 exit 0
EOF
uf replay -f none
expect <<-'EOF'
	main();
	other_main() {
	  other_work();
	} /* other_main */
EOF

begin "ids that are used again"
record <<-'EOF'
	image /opt/prog main run work
	image /opt/other other_main
	100 exec /opt/prog
	110 main {
	120 thread 101
	130..140 100/101 work
	150 100/101 exit 0
	160 thread 101
	170..180 100/101 run
	190 100/101 exit 0
	200 fork 101
	210 101 work {
	225 101 exit 0
	227 fork 101
	230 101 exec /opt/other
	240..250 101 other_main
	255 101 exit 0
	260 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | work();
	 [   101] | run();
	 [   101] | work();
	 [   101] | other_main();
	 [   100] | } /* main */
EOF

begin "an id that is used again before its end was seen"
record <<-'EOF'
	image /opt/prog main run work
	100 exec /opt/prog
	110 main {
	120 thread 101
	130 100/101 work {
	140 100/101 lost exit 0
	160 thread 101
	170..180 100/101 run
	190 100/101 exit 0
	260 }
EOF
uf replay -f tid,duration
expect <<-'EOF'
	# DURATION     TID     FUNCTION
	            [   100] | main() {
	   0.030 us [   101] | work();
	   0.010 us [   101] | run();
	   0.150 us [   100] | } /* main */
EOF

begin "two files of one name in one recording"
record <<-'EOF'
	image /opt/a/prog main from_a build-id=aaaa000000000000
	image /opt/b/prog main from_b build-id=bbbb000000000000
	100 exec /opt/a/prog
	110..120 a/prog:from_a
	130 fork 101
	140 101 exec /opt/b/prog
	150..160 101 b/prog:from_b
	170 101 exit 0
	180..190 a/prog:from_a
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | from_a();
	 [   101] | from_b();
	 [   100] | from_a();
EOF

begin "a program that was built anew while it was recorded"
record <<-'EOF'
	image /opt/prog main old_work build-id=aaaa000000000000 ino=50
	100 exec /opt/prog
	110..120 old_work
	130 fork 101
	image /opt/prog main new_main new_work build-id=bbbb000000000000 ino=51
	140 101 exec /opt/prog
	150 101 new_main {
	160..170 101 new_work
	180 101 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | old_work();
	 [   101] | new_main() {
	 [   101] |   new_work();
	 [   101] | } /* new_main */
EOF

begin "a library that is loaded, and another in its place"
record <<-'EOF'
	image /opt/prog main dlopen@
	image /opt/one.so one_work addr=0x7f0000000000
	image /opt/two.so two_work addr=0x7f0000000000
	100 exec /opt/prog
	110 main {
	120 dlopen {
	125 map /opt/one.so
	130 }
	140..150 one_work
	160 dlopen {
	165 map /opt/two.so
	170 }
	180..190 two_work
	200 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  dlopen();
	  one_work();
	  dlopen();
	  two_work();
	} /* main */
EOF

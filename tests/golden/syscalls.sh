# syscalls.sh - system calls: their names, arguments and results.

begin "arguments by their kinds, results as they are"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120..121 openat(-100, "/etc/passwd", 0x80000, 0) = 3
	122..123 read(3, "root:x:0", 8) = 8
	124..125 openat(5, "relative", 0x241, 0x1a4) = 4
	126..127 close(3) = 0
	128..129 getcwd("/home/x\0", 64) = 8
	130..131 pipe("\x03\0\0\0\x04\0\0\0") = 0
	132..133 brk(0) = 93824992231424
	134..135 mmap(0, 4096, 3, 0x22, -1, 0) = 140000000000000
	136..137 kill(100, 9) = 0
	138..139 getpid() = 100
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3;
	  sys_read(3, "root:x:0", 8) = 8;
	  sys_openat(5, "relative", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4;
	  sys_close(3) = 0;
	  sys_getcwd("/home/x", 64) = 8;
	  sys_pipe("[3, 4]") = 0;
	  sys_brk(NULL) = 0x555555554000;
	  sys_mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f544a44c000;
	  sys_kill(100, SIGKILL) = 0;
	  sys_getpid() = 100;
	} /* main */
EOF

begin "errors by name, the kernel's own among them"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120..121 openat(-100, "/nothing", 0, 0) = -2
	122..123 ioctl(1, 0x5401, 0x7ffe0000) = -25
	124..125 futex(0x1000, 128, 1, 0) = -512
	126..127 close(9) = -9
	128..129 close(9) = -3999
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_openat(AT_FDCWD, "/nothing", O_RDONLY) = ENOENT;
	  sys_ioctl(1, TCGETS, 0x7ffe0000) = ENOTTY;
	  sys_futex(0x1000, FUTEX_WAIT_PRIVATE, 1, NULL) = ERESTARTSYS;
	  sys_close(9) = EBADF;
	  sys_close(9) = -3999;
	} /* main */
EOF

begin "strings: cut ones are marked, what could not be read is an address"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120..121 read(3, "root:x:0:0:ro"..., 4096) = 4096
	122..123 read(3, "nothing"!, 100) = -14
	124..125 read(3, "", 100) = 0
	126..127 openat(-100, "nothing"!, 0, 0) = -14
	128..129 openat(-100, "", 0, 0) = -2
	130 execve("/opt/a/long/one"..., 0, 0) {
	131 } = -2
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_read(3, "root:x:0:0:ro...", 4096) = 4096;
	  sys_read(3, 0x2000, 100) = EFAULT;
	  sys_read(3, "", 100) = 0;
	  sys_openat(AT_FDCWD, 0x2000, O_RDONLY) = EFAULT;
	  sys_openat(AT_FDCWD, "", O_RDONLY) = ENOENT;
	  sys_execve("/opt/a/long/one...", NULL, NULL) = ENOENT;
	} /* main */
EOF

begin "strings with any bytes in them"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120..121 write(1, "line\n\t\0\xff\"quoted\\\"", 20) = 20
	122..123 openat(-100, "/%s%n%d/\x1b[31m/é/\xc3", 0, 0) = 3
	124..125 write(1, "NULL", 4) = 4
	126..127 write(1, "\xff\xff\xff\xff", 4) = 4
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_write(1, "line\n\t\0\377\"quoted\\\"", 20) = 20;
	  sys_openat(AT_FDCWD, "/%s%n%d/\33[31m/\303\251/\303", O_RDONLY) = 3;
	  sys_write(1, "NULL", 4) = 4;
	  sys_write(1, "\377\377\377\377", 4) = 4;
	} /* main */
EOF
uf dump --chrome
got_from python3 -c 'import json; print([e["args"]["arguments"] for e in json.load(open("got"))["traceEvents"] if "arguments" in e.get("args", {})][0])'
expect <<-'EOF'
	(1, "line\n\t\0\377\"quoted\\\"", 20)
EOF

begin "a string longer than the reader can take is cut"
record <<-EOF
	image /opt/prog main
	about string_bytes=4096
	100 exec /opt/prog
	110 main {
	120..121 openat(-100, "/$(printf 'a%.0s' $(seq 300))", 0, 0) = 3
	122..123 write(1, "$(printf '\\x01%.0s' $(seq 300))", 300) = 300
	140 }
EOF
uf replay -f none
expect <<-EOF
	main() {
	  sys_openat(AT_FDCWD, "/$(printf 'a%.0s' $(seq 94))...", O_RDONLY) = 3;
	  sys_write(1, "$(printf '\\1%.0s' $(seq 47))...", 300) = 300;
	} /* main */
EOF

begin "calls that no table has, of this ABI and of the 32-bit one"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	110 main {
	120..121 #400(1, 2, 3) = -38
	122..123 #511() = -38
	124..125 #5000(1) = -38
	126..127 #4294967295(1) = -38
	128..129 compat: read(3, "x", 1) = 1
	130..131 compat: open("/etc/passwd", 0, 0) = 3
	132..133 compat: #999(1, 2) = -38
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_syscall_400(0x1, 0x2, 0x3, 0, 0, 0) = ENOSYS;
	  sys_syscall_511(0, 0, 0, 0, 0, 0) = ENOSYS;
	  sys_syscall_other(0x1, 0, 0, 0, 0, 0) = ENOSYS;
	  sys_syscall_other(0x1, 0, 0, 0, 0, 0) = ENOSYS;
	  compat_sys_read(3, "x", 1) = 1;
	  compat_sys_open("/etc/passwd", O_RDONLY) = 3;
	  compat_sys_syscall_other(0x1, 0x2, 0, 0, 0, 0) = ENOSYS;
	} /* main */
EOF

begin "calls whose end was not seen end with what comes next, and have no result"
record <<-'EOF'
	image /opt/prog main a
	100 exec /opt/prog
	110 main {
	120 read(0, "x", 1) {
	130 lost } = 1
	140..150 a
	160 read(0, "x", 1) {
	170 lost } = 1
	180..190 write(1, "x", 1) = 1
	192 lost read(0, "x", 1) {
	194 } = 1
	200 openat(-100, "/etc/passwd", 0, 0) {
	210 lost } = 3
	220 }
EOF
uf replay -f duration
expect <<-'EOF'
	# DURATION    FUNCTION
	            | main() {
	   0.020 us |   sys_read(0, 0x2000, 1);
	   0.010 us |   a();
	   0.020 us |   sys_read(0, 0x2000, 1);
	   0.010 us |   sys_write(1, "x", 1) = 1;
	   0.020 us |   sys_openat(AT_FDCWD, 0x2000, O_RDONLY);
	   0.110 us | } /* main */
EOF

begin "calls that never come back"
record <<-'EOF'
	image /opt/prog main run
	100 exec /opt/prog
	105 main {
	110 thread 101
	120 100/101 run {
	130 100/101 exit(0) {
	140 100/101 exit 0
	150 exit_group(7) {
	160 exit 0x700
EOF
uf replay -f tid,duration
expect <<-'EOF'
	# DURATION     TID     FUNCTION
	            [   100] | main() {
	            [   101] | run() {
	   0.010 us [   101] |   sys_exit(0);
	   0.020 us [   101] | } /* run */
	   0.010 us [   100] |   sys_exit_group(7);
	   0.055 us [   100] | } /* main */
EOF

begin "a call that a signal interrupts, and the handler's own calls"
record <<-'EOF'
	image /opt/prog main handler
	100 exec /opt/prog
	110 main {
	120 nanosleep(0x1000, 0) {
	130 } = -516
	140 handler {
	145..146 getpid() = 100
	150 }
	155 rt_sigreturn() {
	160 lost } = 0
	170 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  sys_nanosleep(0x1000, NULL) = ERESTART_RESTARTBLOCK;
	  handler() {
	    sys_getpid() = 100;
	  } /* handler */
	  sys_rt_sigreturn();
	} /* main */
EOF

begin "system calls without functions"
record <<-'EOF'
	100 exec /opt/prog
	120..121 openat(-100, "/etc/passwd", 0, 0) = 3
	122..123 close(3) = 0
	130 exit_group(0) {
	140 exit 0
EOF
uf replay -f none
expect <<-'EOF'
	sys_openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3;
	sys_close(3) = 0;
	sys_exit_group(0);
EOF
uf report
expect <<-'EOF'
	  Total time   Self time       Calls  Function
	  ==========  ==========  ==========  ====================
	    0.010 us    0.010 us           1  sys_exit_group
	    0.001 us    0.001 us           1  sys_close
	    0.001 us    0.001 us           1  sys_openat
EOF

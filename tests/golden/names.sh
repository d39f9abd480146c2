# names.sh - names and paths that others chose: whatever they are, the reader is not led astray.

# The names of the calls in what `uftrace dump --chrome` says, which must be JSON.
chrome_names() {
	python3 -c 'import json; print(" ".join(e["name"] for e in json.load(open("got"))["traceEvents"] if e["ph"] == "B"))'
}

begin "C++ and Rust names are demangled by the reader"
record <<-'EOF'
	image /opt/prog main _ZN3foo3barEi _ZNSt6vectorIiSaIiEE9push_backERKi _RNvC6_123foo3bar _ZN4core3fmt5write17h0123456789abcdefE
	100 exec /opt/prog
	110 main {
	120..121 _ZN3foo3barEi
	122..123 _ZNSt6vectorIiSaIiEE9push_backERKi
	124..125 _RNvC6_123foo3bar
	126..127 _ZN4core3fmt5write17h0123456789abcdefE
	130 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  foo::bar();
	  std::vector::push_back();
	  _RNvC6_123foo3bar();
	  core::fmt::write();
	} /* main */
EOF

begin "names that look mangled and are not"
record <<-'EOF'
	image /opt/prog main _Z _ZN _ZNSt _ZN9999999999a _ZN3fo _Z1aIIIIIIIIIIIIIIIIIIIIIII _ZSt3 _R _RN _ZN1a1bIcEEvT_ _ZTV3foo
	100 exec /opt/prog
	110 main {
	120..121 _Z
	122..123 _ZN
	124..125 _ZNSt
	126..127 _ZN9999999999a
	128..129 _ZN3fo
	130..131 _Z1aIIIIIIIIIIIIIIIIIIIIIII
	132..133 _ZSt3
	134..135 _R
	136..137 _RN
	138..139 _ZN1a1bIcEEvT_
	140..141 _ZTV3foo
	150 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  _Z();
	  _ZN();
	  _ZNSt();
	  _ZN9999999999a();
	  _ZN3fo();
	  _Z1aIIIIIIIIIIIIIIIIIIIIIII();
	  _ZSt3();
	  _R();
	  _RN();
	  a::b();
	  __vtable__foo();
	} /* main */
EOF

begin "names with what means something to readers and formats"
record <<-'EOF'
	image /opt/prog main a\\b "quoted" %s%n $(x) a;b {x} }/*x*/ \xc3\xa9 \xff puts@ [unknown] ? <x> # -1
	100 exec /opt/prog
	110 main {
	120..121 a\\b
	122..123 "quoted"
	124..125 %s%n
	126..127 $(x)
	128..129 a;b
	130..131 {x}
	132..133 }/*x*/
	134..135 \xc3\xa9
	136..137 \xff
	138..139 puts
	140..141 [unknown]
	142..143 ?
	144..145 <x>
	150 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a/b();
	  'quoted'();
	  %s%n();
	  $(x);
	  a;b();
	  {x}();
	  }/*x*/();
	  é();
	  _();
	  puts();
	  [unknown]();
	  ?();
	  <x>();
	} /* main */
EOF
uf dump --chrome
got_from chrome_names
expect <<-'EOF'
	main a/b 'quoted' %s%n $(x) a;b {x} }/*x*/ \xc3\xa9 _ puts [unknown] ? <x>
EOF

begin "the names by which uftrace throws frames away"
record <<-'EOF'
	image /opt/prog main execve@ longjmp@ _setjmp@ vfork@ fork@ daemon@ a
	100 exec /opt/prog
	110 main {
	115..116 _setjmp
	120..121 execve
	122..123 longjmp
	124..125 vfork
	126..127 fork
	128..129 daemon
	130..131 a
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  _setjmp();
	  execve ();
	  longjmp ();
	  vfork();
	  fork();
	  daemon();
	  a();
	} /* main */
EOF

begin "a name of 5000 bytes"
record <<-EOF
	image /opt/prog main $(printf 'x%.0s' $(seq 5000))
	100 exec /opt/prog
	110 main {
	120..130 $(printf 'x%.0s' $(seq 5000))
	140 }
EOF
uf replay -f none
expect <<-EOF
	main() {
	  $(printf 'x%.0s' $(seq 998))();
	} /* main */
EOF
uf dump --chrome
got_from chrome_names
expect <<-EOF
	main $(printf 'x%.0s' $(seq 998))
EOF

begin "paths with spaces, quotes, newlines and bytes that are no text"
record <<-'EOF'
	image /opt/a\x20b/we"ird\x0apr\\og\xff main a
	about exe=/opt/a\x20b/we"ird\x0apr\\og\xff cmdline=recorder\x20--\x20we"ird\x0a\\\xff
	100 exec /opt/a\x20b/we"ird\x0apr\\og\xff
	110 main {
	120..130 a
	140..141 openat(-100, "/x", 0, 0) = 3
	150 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	  sys_openat(AT_FDCWD, "/x", O_RDONLY) = 3;
	} /* main */
EOF
uf dump --chrome
got_from chrome_names
expect <<-'EOF'
	main a sys_openat
EOF
uf info
got_from grep -E '^# (cmdline|task list|exe image)' got
expect <<-'EOF'
	# cmdline             : recorder -- we\"ird_\\_
	# task list           : 100(og_)
	# exe image           : /opt/a b/we'ird_pr/og_
EOF

begin "names of tasks with any bytes in them"
record <<-'EOF'
	image /opt/prog main
	100 exec /opt/prog
	105 rename e"vil\x0a\xffname
	110 main {
	115 fork 101 comm=\x1b[31m
	120..122 101 main
	125 101 exit 0
	130 }
EOF
uf replay -f tid
expect <<-'EOF'
	#   TID     FUNCTION
	 [   100] | main() {
	 [   101] | main();
	 [   100] | } /* main */
EOF

begin "a file that was deleted, one without a name, one that has uftrace's own"
record <<-'EOF'
	image /opt/prog\x20(deleted) main
	image / at_root
	image /opt/libmcount.so in_libmcount addr=0x7f0000000000
	100 exec /opt/prog\x20(deleted)
	105 map /opt/libmcount.so
	110 main {
	120..130 in_libmcount
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  in_libmcount();
	} /* main */
EOF

begin "a path as long as they can be"
record <<-EOF
	image $(printf '/%.0s0123456789abcde' $(seq 255))/prog main a
	100 exec $(printf '/%.0s0123456789abcde' $(seq 255))/prog
	110 main {
	120..130 a
	140 }
EOF
uf replay -f none
expect <<-'EOF'
	main() {
	  a();
	} /* main */
EOF

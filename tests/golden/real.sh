# real.sh - recordings of real programs, made by tests/golden/save: they stay readable, and show what they showed.
# Only what another recording of the same program shows too is looked at.

# The tid of the N-th task of out.
tid() { uftrace info -d out 2> /dev/null | sed -n 's/^# task list *: //p' | tr -d ' ' | cut -d, -f"$1" | cut -d'(' -f1; }

# got, with names for ids and addresses that are others each time.
plain() {
	local i edits=
	for i in 1 2 3 4; do edits="$edits;s/\\b$(tid $i)\\b/TASK$i/g"; done
	got_from sed -E "s/0x[0-9a-f]{5,}/PTR/g;s/hello-[A-Za-z0-9]{6}/hello-XXXXXX/$edits" got
}

begin "examples/hello: the calls of its main thread"
replay hello.raw.gz
uf replay -f none -N '^sys_' --tid "$(tid 1)"
expect <<-'EOF'
	main() {
	  add_twice();
	  printf();
	  factorial() {
	    factorial() {
	      factorial() {
	        factorial() {
	          factorial() {
	            factorial();
	          } /* factorial */
	        } /* factorial */
	      } /* factorial */
	    } /* factorial */
	  } /* factorial */
	  printf();
	  sum_in_two_threads() {
	    pthread_create();
	    pthread_create();
	    pthread_join();
	    pthread_join();
	  } /* sum_in_two_threads */
	  printf();
	  write_and_read_back() {
	    mkstemp();
	    write();
	    pread();
	    close();
	    unlink();
	  } /* write_and_read_back */
	  printf();
	  ask_a_child() {
	    pipe();
	    fflush();
	    fork();
	    close();
	    read();
	    read();
	    close();
	    wait();
	    strcspn();
	  } /* ask_a_child */
	  printf();
	  open();
	  __errno_location();
	  strerror();
	  printf();
	} /* main */
EOF

begin "examples/hello: what its processes asked of the kernel inside main()"
replay hello.raw.gz
uf replay -f tid -F main -F sub_2340 -F sub_2e90
plain
got_from sed -nE 's/^ \[ *(TASK.)\] \| *(sys_(openat|unlink|write|pread64|pipe2|wait4|clone)\(.*)/\1 \2/p' got
expect <<-'EOF'
	TASK1 sys_openat(AT_FDCWD, "/tmp/hello-XXXXXX", O_RDWR|O_CREAT|O_EXCL, 0600) = 3;
	TASK1 sys_write(3, "hello, file", 11) = 11;
	TASK1 sys_pread64(3, "hello, file", 64, 0) = 11;
	TASK1 sys_unlink("/tmp/hello-XXXXXX") = 0;
	TASK1 sys_pipe2("[3, 4]", 0) = 0;
	TASK1 sys_write(1, "add_twice(1, 2) = 5\nfactorial(6)...", 90) = 90;
	TASK1 sys_clone(CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, NULL, NULL, PTR, NULL) = TASK4;
	TASK4 sys_write(1, "hello, pipe\n", 12) = 12;
	TASK1 sys_wait4(-1, NULL, 0, NULL) = TASK4;
	TASK1 sys_openat(AT_FDCWD, "/no/such/file", O_RDONLY) = ENOENT;
EOF

begin "examples/hello: its tasks"
replay hello.raw.gz
uf info
plain
got_from grep -E '^# (cmdline|kernel version|hostname|number of tasks|task list|exe image|exit status)' got
expect <<-'EOF'
	# cmdline             : /opt/recorder --format raw -o data -- /opt/hello
	# kernel version      : Linux 6.12.0
	# hostname            : host
	# number of tasks     : 4
	# task list           : TASK1(hello), TASK2(hello), TASK3(hello), TASK4(echo)
	# exe image           : /opt/hello
	# exit status         : exited with code: 0
EOF

begin "tests/programs/throw: every call counted, as the program itself did"
replay throw.raw.gz
uf report -f call
got_from sh -c "grep -E ' (main|carry|catch_nested|catch_rethrown|rethrow_from|catch_over|after|throw_from)$' got | sort"
expect <<-'EOF'
	           1  carry
	           1  catch_nested
	           1  main
	          21  catch_rethrown
	          21  rethrow_from
	          75  catch_over
	         129  after
	         795  throw_from
EOF

begin "tests/programs/throw: an exception that is carried over"
replay throw.raw.gz
uf replay -f none -F carry -N '^sys_|_Unwind_Resume' --tid "$(tid 1)"
expect <<-'EOF'
	carry() {
	  throw_from() {
	    throw_from() {
	      throw_from() {
	        throw_from() {
	          throw_from() {
	            __cxa_allocate_exception();
	            std::runtime_error::runtime_error();
	            __cxa_throw();
	          } /* throw_from */
	        } /* throw_from */
	      } /* throw_from */
	    } /* throw_from */
	  } /* throw_from */
	  __cxa_begin_catch();
	  std::current_exception();
	  std::__exception_ptr::exception_ptr::operator=() {
	    std::__exception_ptr::exception_ptr::~exception_ptr();
	  } /* std::__exception_ptr::exception_ptr::operator= */
	  std::__exception_ptr::exception_ptr::~exception_ptr();
	  __cxa_end_catch();
	  std::__exception_ptr::exception_ptr::exception_ptr() {
	    std::__exception_ptr::exception_ptr::_M_addref();
	  } /* std::__exception_ptr::exception_ptr::exception_ptr */
	  std::rethrow_exception();
	  std::__exception_ptr::exception_ptr::~exception_ptr() {
	    std::__exception_ptr::exception_ptr::_M_release();
	  } /* std::__exception_ptr::exception_ptr::~exception_ptr */
	  __cxa_begin_catch();
	  after();
	  __cxa_end_catch();
	  std::__exception_ptr::exception_ptr::~exception_ptr() {
	    std::__exception_ptr::exception_ptr::_M_release();
	  } /* std::__exception_ptr::exception_ptr::~exception_ptr */
	} /* carry */
EOF

begin "tests/programs/throw: the child of its fork catches its own"
replay throw.raw.gz
uf replay -f none -F catch_over -N '^sys_|_Unwind_Resume' --tid "$(tid 4)"
expect <<-'EOF'
	catch_over() {
	  throw_from() {
	    throw_from() {
	      throw_from() {
	        throw_from() {
	          throw_from() {
	            throw_from() {
	              throw_from() {
	                __cxa_allocate_exception();
	                std::runtime_error::runtime_error();
	                __cxa_throw();
	              } /* throw_from */
	            } /* throw_from */
	          } /* throw_from */
	        } /* throw_from */
	      } /* throw_from */
	    } /* throw_from */
	  } /* throw_from */
	  __cxa_begin_catch();
	  after();
	  strlen();
	  __cxa_end_catch();
	} /* catch_over */
EOF

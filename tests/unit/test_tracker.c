/*
 * test_tracker.c - records brought to their place: depth, sessions, tasks.
 */
#include "cuda.h"
#include "cuda/process.h"
#include "function.h"
#include "stage.h"
#include "test.h"

/* A file whose code is mapped from its start on. */
static void mapped_of(struct stage *s, uint64_t time, const char *file, uint64_t ino, uint32_t dev, uint64_t addr)
{
	struct rec_image *r = record(s, REC_IMAGE, sizeof(*r) + strlen(file), time);

	r->ino = ino;
	r->dev = dev;
	r->addr = addr;
	r->len = 0x1000;
	r->at = IMAGE_MAPPED;
	r->path_len = strlen(file);
	memcpy(r->path, file + 1, strlen(file));
	play(s, r);
}

TEST(nested_calls_are_nested)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	returned(&s, 120, 1, 0x6000);
	returned(&s, 130, 0, 0x7000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 } 130 }");
	stage_clear(&s);
}

TEST(a_lost_return_is_closed_by_the_return_of_its_caller)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	returned(&s, 150, 0, 0x7000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 150 }? 150 }");
	stage_clear(&s);
}

TEST(a_lost_return_is_closed_by_the_next_call_above_it)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	entered(&s, 120, 2, 0x6800);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 }? 120 f2{");
	stage_clear(&s);
}

TEST(longjmp_over_many_frames_closes_them_all_innermost_first)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	entered(&s, 120, 1, 0x5000);
	entered(&s, 130, 1, 0x4000);
	entered(&s, 140, 2, 0x6f00);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 f1{ 130 f1{ 140 }? 140 }? 140 }? 140 f2{");
	stage_clear(&s);
}

TEST(a_tail_call_returns_twice_at_one_place)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	entered(&s, 120, 2, 0x6000);
	returned(&s, 130, 2, 0x6000);
	returned(&s, 130, 1, 0x6000);
	returned(&s, 140, 0, 0x7000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 f2{ 130 } 130 } 140 }");
	stage_clear(&s);
}

TEST(a_call_at_the_place_of_one_left_by_an_exception_closes_it)
{
	struct stage s;
	struct rec_func *r;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	r = record(&s, REC_FUNC_ENTRY, sizeof(*r), 120);
	r->hdr.flags = REC_F_CALLED;
	r->func = 2;
	r->sp = 0x6000;
	play(&s, r);
	returned(&s, 130, 2, 0x6000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 }? 120 f2{ 130 }");
	stage_clear(&s);
}

TEST(a_call_that_was_held_back_bears_the_time_it_began)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	held(&s, 200, 110, 1, 0x6000);
	held(&s, 201, 120, 2, 0x5000);
	returned(&s, 202, 2, 0x5000);
	returned(&s, 300, 1, 0x6000);
	CHECK_STR(told(&s), "100 f0{ 200 at 110 f1{ 201 at 120 f2{ 202 } 300 }");
	stage_clear(&s);
}

/* In one order with what was told of the task, whatever the record says. */
TEST(a_held_call_does_not_begin_before_what_was_told_of_its_task)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	entered(&s, 110, 1, 0x6000);
	returned(&s, 150, 1, 0x6000);
	held(&s, 200, 120, 2, 0x6000);
	returned(&s, 210, 2, 0x6000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 150 } 200 at 150 f2{ 210 }");
	stage_clear(&s);
}

/* Its fork was lost: what is known of it first was before it became known. */
TEST(a_task_that_was_not_announced_begins_with_its_held_call)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	s.pid = s.tid = 555;
	held(&s, 200, 120, 2, 0x6000);
	CHECK(strstr(told(&s), " 200 at 120 "));
	stage_clear(&s);
}

TEST(of_entry_only_functions_the_next_at_the_same_place_follows)
{
	struct stage s;

	stage_set(&s);
	entered_without_exit(&s, 100, 0, 0x7000);
	entered_without_exit(&s, 110, 1, 0x6000);
	entered_without_exit(&s, 120, 2, 0x6000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 }? 120 f2{");
	stage_clear(&s);
}

TEST(a_signal_on_its_own_stack_closes_nothing)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7fff00007000);
	entered(&s, 110, 1, 0x7fff00006000);
	entered(&s, 120, 2, 0x555500001000);
	returned(&s, 130, 2, 0x555500001000);
	returned(&s, 140, 1, 0x7fff00006000);
	returned(&s, 150, 0, 0x7fff00007000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 f2{ 130 } 140 } 150 }");
	stage_clear(&s);
}

TEST(coming_back_from_another_stack_closes_what_was_opened_there)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7fff00007000);
	entered(&s, 110, 2, 0x555500001000);
	entered(&s, 120, 1, 0x7fff00006000);
	returned(&s, 130, 1, 0x7fff00006000);
	returned(&s, 140, 2, 0x555500001000);		/* of the coroutine, long closed: nothing to tell */
	returned(&s, 150, 0, 0x7fff00007000);
	CHECK_STR(told(&s), "100 f0{ 110 f2{ 120 }? 120 f1{ 130 } 150 }");
	CHECK_INT(tracker_counts(s.tracker)->unmatched, 1);
	stage_clear(&s);
}

TEST(what_a_filter_saw_leaving_is_closed_on_whatever_stack)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7fff00007000);
	entered(&s, 110, 1, 0x555500001000);
	entered(&s, 120, 2, 0x555500001000);		/* a tail call of the one before */
	entered(&s, 130, 3, 0x555500000f00);
	returned(&s, 140, NO_FUNC, 0x555500001000);
	returned(&s, 150, NO_FUNC, 0x555500001000);	/* nothing is open there */
	returned(&s, 160, 0, 0x7fff00007000);
	CHECK_STR(told(&s), "100 f0{ 110 f1{ 120 f2{ 130 f3{ 140 }? 140 }? 140 }? 160 }");
	stage_clear(&s);
}

TEST(a_syscall_whose_return_was_lost_ends_when_its_task_is_seen_again)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	sys_entered(&s, 110, 1);
	sys_entered(&s, 120, 2);
	sys_returned(&s, 130, 2);
	returned(&s, 140, 0, 0x7000);
	CHECK_STR(told(&s), "100 f0{ 110 sys1{ 120 }? 120 sys2{ 130 } 140 }");
	stage_clear(&s);
}

TEST(exec_closes_every_call_and_begins_a_session)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	sys_entered(&s, 110, 59);
	execed(&s, 120, "/bin/other");
	sys_returned(&s, 130, 59);
	CHECK_STR(told(&s), "100 f0{ 110 sys59{ 120 }! 120 }! session(/bin/other) map(/bin/other@5000000) exec(100) 130 sys59}");
	stage_clear(&s);
}

TEST(a_task_that_exits_ends_its_calls)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	sys_entered(&s, 110, 231);
	exited(&s, 120);
	CHECK_STR(told(&s), "100 f0{ 110 sys231{ 120 }! 120 }! end(100)");
	stage_clear(&s);
}

TEST(a_forked_child_begins_with_no_frames_and_returns_of_its_parents_calls_are_not_its_own)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	sys_entered(&s, 110, 57);
	forked(&s, 120, 200, 200);
	s.pid = s.tid = 200;
	sys_returned(&s, 130, 57);
	entered(&s, 140, 1, 0x6000);
	returned(&s, 150, 1, 0x6000);
	returned(&s, 160, 0, 0x7000);
	CHECK_STR(told(&s), "100 f0{ 110 sys57{ task(200:200) 130 sys57} 140 f1{ 150 }");
	stage_clear(&s);
}

TEST(a_call_that_does_not_come_back_ends_as_it_begins)
{
	struct rec_sys_enter *r;
	struct stage s;

	stage_set(&s);
	r = record(&s, REC_SYS_ENTER, sizeof(*r), 100);
	r->nr = 15;
	r->hdr.flags = REC_F_NO_EXIT;
	play(&s, r);
	entered(&s, 110, 0, 0x7000);
	CHECK_STR(told(&s), "100 sys15{ 100 } 110 f0{");
	stage_clear(&s);
}

TEST(a_thread_begins_with_no_frames)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 100, 0, 0x7000);
	forked(&s, 120, 100, 101);
	s.tid = 101;
	sys_returned(&s, 125, 56);
	entered(&s, 130, 1, 0x9000);
	returned(&s, 140, 1, 0x9000);
	CHECK_STR(told(&s), "100 f0{ task(100:101) 125 sys56} 130 f1{ 140 }");
	stage_clear(&s);
}

TEST(a_thread_that_execs_goes_on_as_its_leader)
{
	struct stage s;
	struct rec_task_exec *r;

	stage_set(&s);
	forked(&s, 100, 100, 101);
	(void)told(&s);
	exited(&s, 110);				/* the leader, killed by the exec */
	r = record(&s, REC_TASK_EXEC, sizeof(*r), 120);
	r->old_tid = 101;
	play(&s, r);
	mapped(&s, 120, "/bin/other", 0x5000040, 0, IMAGE_PHDR);
	CHECK_STR(told(&s), "end(100) end(101) session(/bin/other) map(/bin/other@5000000) task(100:100)");
	stage_clear(&s);
}

TEST(a_task_nobody_announced_is_made_of_its_first_record)
{
	struct stage s;

	stage_set(&s);
	s.pid = s.tid = 300;
	sys_entered(&s, 100, 1);
	CHECK_STR(told(&s), "session(/launched) task(300:300) 100 sys1{");
	stage_clear(&s);
}

static void launched_kernel(struct stage *s, uint64_t time, uint64_t sp)
{
	struct rec_cuda_launch *r = record(s, REC_CUDA_LAUNCH, sizeof(*r), time);

	r->func = cuda_find("cuLaunchKernel");
	r->sp = sp;
	r->words.kernel = 0x1000;
	play(s, r);
}

static void exited_last(struct stage *s, uint64_t time)
{
	struct rec_task_exit *r = record(s, REC_TASK_EXIT, sizeof(*r), time);

	r->last = 1;
	play(s, r);
}

TEST(calls_of_the_driver_end_with_their_process_in_threads_whose_end_was_missed_too)
{
	struct stage s;

	stage_set(&s);
	forked(&s, 100, 100, 101);
	s.tid = 101;
	entered(&s, 110, 0, 0x7000);
	launched_kernel(&s, 120, 0x6f00);
	s.tid = 100;
	exited_last(&s, 130);
	CHECK_STR(told(&s), "task(100:101) 110 f0{ 130 }! end(100)");
	s.tid = 101;
	exited(&s, 140);
	CHECK_STR(told(&s), "end(101)");
	stage_clear(&s);
}

/* There is no such process, but a garbled record may say so. */
TEST(a_process_that_makes_calls_of_the_driver_is_kept_under_any_number)
{
	const uint32_t pids[] = { 0, 1, UINT32_MAX };
	struct cuda_processes *all;

	CHECK_INT(cuda_processes_create(&all), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		struct cuda_process *p = cuda_process_make(all, pids[i], 0);

		CHECK(p && cuda_process_find(all, pids[i]) == p);
		cuda_process_drop(all, p);
		CHECK(!cuda_process_find(all, pids[i]));
	}
	cuda_processes_destroy(all);
}

TEST(an_id_used_again_is_another_task)
{
	struct stage s;

	stage_set(&s);
	forked(&s, 100, 200, 200);
	forked(&s, 110, 200, 200);
	CHECK_STR(told(&s), "task(200:200) end(200) task(200:200)");
	stage_clear(&s);
}

TEST(time_never_runs_back_and_what_comes_late_is_counted)
{
	struct stage s;

	stage_set(&s);
	entered(&s, 200, 0, 0x7000);
	returned(&s, 190, 0, 0x7000);
	CHECK_STR(told(&s), "200 f0{ 200 }");
	CHECK_INT(tracker_counts(s.tracker)->late, 1);
	stage_clear(&s);
}

TEST(a_library_is_mapped_where_its_code_says)
{
	struct stage s;

	stage_set(&s);
	mapped(&s, 100, "/usr/lib/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	mapped(&s, 110, "/usr/lib/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "map(/usr/lib/x.so@7f0000000000)");
	stage_clear(&s);
}

TEST(a_library_that_comes_back_to_where_another_was_is_mapped_anew)
{
	struct stage s;

	stage_set(&s);
	mapped(&s, 100, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	mapped_of(&s, 110, "/y.so", 9, 0, 0x7f0000002000);
	mapped(&s, 120, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "map(/x.so@7f0000000000) map(/y.so@7f0000002000) map(/x.so@7f0000000000)");
	stage_clear(&s);
}

TEST(a_forked_child_that_maps_a_file_leaves_its_parents_session)
{
	struct stage s;

	stage_set(&s);
	forked(&s, 100, 200, 200);
	(void)told(&s);
	s.pid = s.tid = 200;
	mapped(&s, 110, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "session(/prog) map(/prog@5000000) moves(200) map(/x.so@7f0000000000)");
	mapped_of(&s, 120, "/y.so", 9, 0, 0x7f0000100000);
	CHECK_STR(told(&s), "map(/y.so@7f0000100000)");
	s.pid = s.tid = 100;		/* it has the session for itself */
	mapped(&s, 130, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "map(/x.so@7f0000000000)");
	stage_clear(&s);
}

TEST(where_who_execd_it_maps_a_file_all_others_leave_its_session_together)
{
	struct stage s;

	stage_set(&s);
	forked(&s, 100, 200, 200);
	forked(&s, 100, 300, 300);
	forked(&s, 100, 100, 101);	/* a thread stays */
	(void)told(&s);
	mapped(&s, 110, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "session(/prog) map(/prog@5000000) moves(200) moves(300) map(/x.so@7f0000000000)");
	s.pid = s.tid = 300;
	mapped(&s, 120, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "session(/prog) map(/prog@5000000) moves(300) map(/x.so@7f0000000000)");
	stage_clear(&s);
}

TEST(a_forked_child_whose_parent_has_gone_keeps_the_session)
{
	struct stage s;

	stage_set(&s);
	forked(&s, 100, 200, 200);
	exited(&s, 110);
	(void)told(&s);
	s.pid = s.tid = 200;
	mapped(&s, 120, "/x.so", 0x7f0000002000, 0x2000, IMAGE_MAPPED);
	CHECK_STR(told(&s), "map(/x.so@7f0000000000)");
	stage_clear(&s);
}

/* As on btrfs and overlayfs. */
TEST(where_the_device_has_two_numbers_the_path_tells_the_image)
{
	struct stage s;

	stage_set(&s);
	mapped_of(&s, 100, "/other", 7, 5, 0x7f0000001000);
	CHECK_STR(told(&s), "map(/other@7f0000001000)");
	stage_clear(&s);
}

TEST(losses_are_told_per_cpu_and_summed_per_class)
{
	struct rec_lost *r;
	struct stage s;

	stage_set(&s);
	r = record(&s, REC_LOST, sizeof(*r), 100);
	r->hdr.cpu = 3;
	r->count[CLASS_SYSCALL] = 5;
	play(&s, r);
	CHECK_STR(told(&s), "lost(3: 0 5 0)");
	CHECK_INT(tracker_counts(s.tracker)->lost[CLASS_SYSCALL], 5);
	stage_clear(&s);
}

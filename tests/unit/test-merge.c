/*
 * Native and Python frames become one stack, or Python's stays whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/native/capture.h"
#include "backends/native/images.h"
#include "backends/native/merge.h"
#include "backends/native/symbols.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "protocol/stack.h"

#define EVAL "_PyEval_EvalFrameDefault"
#define BASE 0x7000

/* A frame of 16 bytes of stack each, from BASE on; "p:" is Python's. */
struct scene {
	struct stack_table *table;
	struct capture capture;
	struct place_name names[16];
	char file[8];
};

static void scene_open(struct scene *scene)
{
	*scene = (struct scene){ .table = stack_table_new(), .file = "lib.so" };
	scene->capture.frames = xcalloc(16, sizeof(struct native_frame));
	scene->capture.python = xcalloc(16, sizeof(struct python_frame));
	scene->capture.end = NATIVE_OUTERMOST;
}

static void scene_close(struct scene *scene)
{
	for (size_t i = 0; i < scene->capture.frame_count; i++)
		free(scene->names[i].func);
	capture_clear(&scene->capture);
	stack_table_free(scene->table);
}

/* Names that begin with '.' are of the interpreter. */
static void add_native(struct scene *scene, const char *name)
{
	size_t i = scene->capture.frame_count++;
	bool is_interpreter = name[0] == '.';

	scene->names[i] = (struct place_name){
		.func = xstrdup(name + is_interpreter),
		.file = scene->file,
		.has_symbol = true,
	};
	scene->capture.frames[i] = (struct native_frame){
		.pc = i,
		.low = BASE + i * 16,
		.high = BASE + i * 16 + 16,
		.name = &scene->names[i],
		.is_interpreter = is_interpreter,
	};
}

/* in: index of the native frame that runs it; -1: not known. */
static void add_python(struct scene *scene, const char *name, int in)
{
	char file[] = "a.py";
	struct code code = { .func = xstrdup(name), .file = file };
	size_t i = scene->capture.python_count++;

	scene->capture.python[i].frame.code = stack_table_code(scene->table, &code);
	scene->capture.python[i].anchor = in < 0 ? 0 : BASE + (uint64_t)in * 16 + 8;
	free(code.func);
}

/* The merged stack as words. */
static void check(struct scene *scene, bool has_internals, const char *wanted)
{
	const struct stack *stack = merge_stack(&scene->capture, scene->table, has_internals);
	struct buffer out = BUFFER_INIT;

	assert_non_null(stack);
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;
		buffer_printf(&out, "%s%s%s", i ? " " : "", code->type == FRAME_NATIVE ? "*" : "",
			      code->func);
	}
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
}

static void one_loop_runs_many_frames(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "futex_wait");
	add_native(&scene, ".time_sleep");
	add_native(&scene, ".cfunction_vectorcall_O");
	add_native(&scene, "." EVAL);
	add_native(&scene, ".slot_tp_call");
	add_native(&scene, "." EVAL);
	add_native(&scene, ".Py_RunMain");
	add_native(&scene, "__libc_start_main");
	add_python(&scene, "a", 3);
	add_python(&scene, "b", 3);
	add_python(&scene, "c", 5);
	check(&scene, false, "*futex_wait *time_sleep a b c");
	check(&scene, true,
	      "*futex_wait *time_sleep *cfunction_vectorcall_O a b *" EVAL " *slot_tp_call c *" EVAL
	      " *Py_RunMain *__libc_start_main");
	scene_close(&scene);
}

static void what_waits_in_the_interpreter_is_shown(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "sem_wait");
	add_native(&scene, ".PyThread_acquire_lock_timed");
	add_native(&scene, ".take_gil");
	add_native(&scene, ".PyEval_RestoreThread");
	add_native(&scene, "." EVAL);
	add_python(&scene, "a", 4);
	check(&scene, false, "*sem_wait *PyThread_acquire_lock_timed *take_gil a");
	scene_close(&scene);
}

static void an_unwinding_that_breaks_off_keeps_python(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "futex_wait");
	add_native(&scene, "." EVAL);
	add_native(&scene, "secret");
	scene.capture.frames[2].high = 0;
	scene.capture.end = NATIVE_BROKEN;
	add_python(&scene, "a", 1);
	add_python(&scene, "b", 7);
	add_python(&scene, "c", 9);
	check(&scene, false, "*futex_wait a *secret b c");
	scene_close(&scene);
}

/* Each Python frame is there once whatever the addresses say. */
static void anchors_that_lie_keep_python(void **state)
{
	static const int lies[][2] = {
		{ 3, 1 }, { -1, 3 }, { 1, -1 }, { 20, 1 }, { -1, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(lies); i++) {
		struct scene scene;
		scene_open(&scene);
		add_native(&scene, "futex_wait");
		add_native(&scene, ".loop");
		add_native(&scene, "between");
		add_native(&scene, ".loop");
		add_python(&scene, "a", lies[i][0]);
		add_python(&scene, "b", lies[i][1]);
		check(&scene, false, "*futex_wait a b");
		scene_close(&scene);
	}
}

/* 3.8 and 3.9: as many loops as frames, from the innermost on. */
static void loops_stand_for_anchors(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "read");
	add_native(&scene, "." EVAL);
	add_native(&scene, ".list_sort");
	add_native(&scene, "." EVAL ".cold");
	add_python(&scene, "a", -1);
	add_python(&scene, "b", -1);
	check(&scene, false, "*read a *list_sort b");
	scene_close(&scene);
}

static void one_loop_too_few_keeps_python(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "read");
	add_native(&scene, "." EVAL);
	add_python(&scene, "a", -1);
	add_python(&scene, "b", -1);
	check(&scene, false, "*read a b");
	scene_close(&scene);
}

/* As in a C library without symbols. */
static void how_it_began_is_left_out(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "libc.so.6+0x10");
	add_native(&scene, "." EVAL);
	add_native(&scene, "run_a_callback");
	add_native(&scene, "libc.so.6+0x20");
	add_native(&scene, "clone3");
	scene.names[0].has_symbol = false;
	scene.names[3].has_symbol = false;
	add_python(&scene, "a", 1);
	check(&scene, false, "*libc.so.6+0x10 a *run_a_callback");
	scene.capture.end = NATIVE_BROKEN;
	check(&scene, false, "*libc.so.6+0x10 a *run_a_callback *libc.so.6+0x20");
	scene_close(&scene);
}

static void nothing_native_is_no_stack(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	add_native(&scene, "." EVAL);
	add_python(&scene, "a", 0);
	assert_null(merge_stack(&scene.capture, scene.table, false));
	scene_close(&scene);
}

static void names_are_shortened(void **state)
{
	static const char *const rows[][2] = {
		{ "c10d::Work::wait(std::chrono::duration<long>)", "c10d::Work::wait" },
		{ "std::vector<int, std::allocator<int> >::at(unsigned long) const",
		  "std::vector<…>::at" },
		{ "void foo<int>(int)::{lambda(A*, int)#2}::operator()(A*, int) const",
		  "foo<…>::{lambda#2}::operator()" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "operator<<(std::ostream&, A const&)", "operator<<" },
		{ "bool a::operator< <int>(b<int> const&)", "a::operator< <…>" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "f(int) [clone .cold]", "f" },
		{ "pthread_cond_wait", "pthread_cond_wait" },
		{ "f<a<b", "f<…>" },
		{ ")(><", ")<…>" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char *name = cpp_name_shorten(rows[i][0]);
		assert_string_equal(name, rows[i][1]);
		free(name);
	}
}

static void a_stack_that_is_cut_says_so(void **state)
{
	struct scene scene;
	const struct stack *stack;

	(void)state;
	scene_open(&scene);
	scene.capture.frames = xrealloc(scene.capture.frames,
					(STACK_FRAMES_MAXIMUM + 1) * sizeof(struct native_frame));
	add_native(&scene, "f");
	for (size_t i = 1; i <= STACK_FRAMES_MAXIMUM; i++)
		scene.capture.frames[i] = scene.capture.frames[0];
	scene.capture.frame_count = STACK_FRAMES_MAXIMUM + 1;
	scene.capture.python_dropped = 5;
	stack = merge_stack(&scene.capture, scene.table, true);
	assert_int_equal(stack->frame_count, STACK_FRAMES_MAXIMUM);
	assert_int_equal(stack->dropped_count, 6);
	scene.capture.frame_count = 1;
	scene_close(&scene);
}

/* "f<A<int, int>, …>(A<…>, …)": each writes the one before it twice. */
static void names_that_double_are_left_alone(void **state)
{
	static const char *const modest[] = {
		"_Z1fi",
		"_ZN2at6native16add_stub_DEFAULTERKNS_6TensorES3_S3_S3_S3_S3_",
		"_ZNSt6vectorIN5torch8autograd4EdgeESaIS2_EE12emplace_backIJRSt10shared_ptrINS1_"
		"4NodeEEjEEERS2_DpOT_",
		/* What each rank that waits in pybind11 stands in. */
		"_ZZN8pybind1112cpp_function10initializeIZNS0_"
		"C4IbN4c10d4WorkEJNSt6chrono8durationIlSt5ratioILl1ELl1000EEEEEJNS_4nameENS_9is_"
		"methodENS_7siblingENS_5arg_vENS_10call_guardIJNS_18gil_scoped_releaseEEEEA654_"
		"cEEEMT0_FT_DpT1_EDpRKT2_EUlPS4_S9_E_bJSS_S9_EJSA_SB_SC_SD_SG_SH_EEEvOSJ_PFSI_SL_"
		"ESR_ENUlRNS_6detail13function_callEE1_4_FUNESZ_",
		"S_T_S0_T",
		"",
	};
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buffer name = BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(modest); i++)
		assert_true(cpp_name_is_modest(modest[i]));
	buffer_printf(&name, "_Z1f1AIiiE");
	for (int i = 0; i < 30; i++)
		buffer_printf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	assert_false(cpp_name_is_modest(name.data));
	buffer_reset(&name);
	for (int i = 0; i < 5000; i++)
		buffer_printf(&name, "S%c_", digits[i % 36]);
	assert_false(cpp_name_is_modest(name.data));
	buffer_reset(&name);
	for (int i = 0; i < 40; i++)
		buffer_printf(&name, "xT_");
	assert_false(cpp_name_is_modest(name.data));
	buffer_clear(&name);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_loop_runs_many_frames),
		cmocka_unit_test(what_waits_in_the_interpreter_is_shown),
		cmocka_unit_test(an_unwinding_that_breaks_off_keeps_python),
		cmocka_unit_test(anchors_that_lie_keep_python),
		cmocka_unit_test(loops_stand_for_anchors),
		cmocka_unit_test(one_loop_too_few_keeps_python),
		cmocka_unit_test(how_it_began_is_left_out),
		cmocka_unit_test(nothing_native_is_no_stack),
		cmocka_unit_test(a_stack_that_is_cut_says_so),
		cmocka_unit_test(names_are_shortened),
		cmocka_unit_test(names_that_double_are_left_alone),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}

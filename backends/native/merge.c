#include "backends/native/merge.h"

#include "banned.h"

#include "backends/native/capture.h"
#include "backends/native/images.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/stack.h"

#define LOOP "_PyEval_EvalFrameDefault"

/*
 * Name prefixes of the functions by which the interpreter gets from one Python function to the
 * next.
 */
static const char *const machinery[] = {
	"_Py",
	"Py",
	"builtin___build_class__",
	"call_",
	"cfunction_",
	"cfunction_vectorcall",
	"do_call",
	"fast_function",
	"function_code_fastcall",
	"gen_close",
	"gen_iternext",
	"gen_send",
	"import_find_",
	"import_name",
	"method_call",
	"method_vectorcall",
	"object_vacall",
	"object_vectorcall",
	"partial_call",
	"partial_vectorcall",
	"pymain_",
	"pyrun_",
	"pythread_wrapper",
	"run_",
	"slot_",
	"t_bootstrap",
	"thread_run",
	"type_call",
	"vectorcall_",
	"wrap_",
	"wrapper_call",
	"wrapperdescr_",
};

/*
 * Name prefixes of functions of the machinery that are shown, because they show why a thread waits.
 */
static const char *const telling[] = {
	"PyThread_",
	"_PyMutex_",
	"_PyParkingLot_",
	"_PySemaphore_",
};

/* Functions with which every program or thread starts. */
static const char *const beginnings[] = {
	"__libc_start_call_main",
	"__libc_start_main",
	"__libc_start_main_impl",
	"_start",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"main",
	"start_thread",
};

static bool begins_with_any(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static bool is_any(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}

static bool is_machinery(const struct native_frame *frame)
{
	const char *func = frame->name ? frame->name->func : NULL;

	if (!frame->is_interpreter)
		return false;
	if (!func || !frame->name->has_symbol)
		return true;
	return begins_with_any(func, machinery, ARRAY_LENGTH(machinery)) &&
	       !begins_with_any(func, telling, ARRAY_LENGTH(telling));
}

static bool is_beginning(const struct native_frame *frame)
{
	return frame->name && is_any(frame->name->func, beginnings, ARRAY_LENGTH(beginnings));
}

/*
 * Returns the index of the first of the outermost frames that belong to the start of a program or
 * thread. In a stripped C library most functions of such frames have no name.
 */
static size_t find_beginning(const struct capture *capture)
{
	size_t at = capture->frame_count;

	if (capture->end != NATIVE_OUTERMOST)
		return at;
	while (at > 0) {
		const struct native_frame *frame = &capture->frames[at - 1];
		bool is_nameless = frame->name && !frame->name->has_symbol;
		if (!is_nameless && !is_beginning(frame) && !frame->is_interpreter)
			break;
		at--;
	}
	return at;
}

struct merge {
	struct capture *capture;
	struct stack_table *table;
	bool has_internals;
	struct frame *frames;
	size_t count;
	size_t capacity;
	size_t native_count;
	size_t beginning; /* native frames from this index on are the program's start */
	size_t next;	  /* index of the next Python frame */
};

static void merge_add_frame(struct merge *merge, struct frame frame)
{
	ARRAY_GROW(merge->frames, merge->count, merge->capacity);
	merge->frames[merge->count++] = frame;
}

static void add_native(struct merge *merge, const struct native_frame *native)
{
	char address[24];
	char nowhere[] = "?";
	struct code code = { .func = address, .file = nowhere };
	struct frame frame = { .lineno = 0 };

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)native->pc);
	if (native->name) {
		code.func = native->name->func;
		code.qualname = native->name->qualname;
		code.file = native->name->file;
		frame.lineno = native->name->lineno;
	}
	code.type = FRAME_NATIVE;
	frame.code = stack_table_code(merge->table, &code);
	merge_add_frame(merge, frame);
	merge->native_count++;
}

/*
 * True if the native frame is shown. Outside of the outermost Python frame, the interpreter's
 * frames and the program's start are hidden: they only lead to Python.
 */
static bool merge_is_shown(const struct merge *merge, const struct native_frame *native)
{
	const struct capture *capture = merge->capture;
	size_t at = (size_t)(native - capture->frames);

	if (merge->has_internals)
		return true;
	if (is_machinery(native) || is_beginning(native))
		return false;
	return merge->next < capture->python_count ||
	       (!native->is_interpreter && at < merge->beginning);
}

static void add_python(struct merge *merge, size_t end)
{
	while (merge->next < end)
		merge_add_frame(merge, merge->capture->python[merge->next++].frame);
}

static bool is_loop(const struct native_frame *native)
{
	return native->is_interpreter && native->name &&
	       strncmp(native->name->func, LOOP, strlen(LOOP)) == 0;
}

static bool has_anchors(const struct capture *capture)
{
	for (size_t i = 0; i < capture->python_count; i++)
		if (capture->python[i].anchor)
			return true;
	return false;
}

/*
 * An anchor is the address on the C stack that shows which evaluation loop runs a Python frame. In
 * 3.8 and 3.9 loops leave no anchor, but each Python frame has its own loop. So there are as many
 * loops as Python frames, or fewer if unwinding broke off.
 */
static void anchor_by_loops(struct capture *capture)
{
	size_t count = 0;

	for (size_t i = 0; i < capture->frame_count; i++)
		count += is_loop(&capture->frames[i]);
	if (count > capture->python_count ||
	    (count < capture->python_count && capture->end == NATIVE_OUTERMOST &&
	     !capture->python_dropped))
		return;
	count = 0;
	for (size_t i = 0; i < capture->frame_count; i++)
		if (is_loop(&capture->frames[i]))
			capture->python[count++].anchor = capture->frames[i].low;
}

static bool merge_is_within(const struct native_frame *native, uint64_t anchor)
{
	return anchor >= native->low && anchor < native->high;
}

/* Returns how many Python frames, from `first` on, the native frame runs. */
static size_t count_within(const struct capture *capture, const struct native_frame *native,
			   size_t first)
{
	size_t count = 0;

	while (first + count < capture->python_count &&
	       merge_is_within(native, capture->python[first + count].anchor))
		count++;
	return count;
}

/* True if all anchors were found in order, or all up to the place where unwinding broke off. */
static bool merge_fits(const struct capture *capture)
{
	uint64_t end = 0;
	size_t next = 0;

	for (size_t i = 0; i < capture->frame_count; i++) {
		const struct native_frame *native = &capture->frames[i];
		next += count_within(capture, native, next);
		if (native->high)
			end = native->high;
	}
	return next == capture->python_count || (next > 0 && capture->end != NATIVE_OUTERMOST &&
						 capture->python[next].anchor >= end);
}

static void merge_by_anchors(struct merge *merge)
{
	const struct capture *capture = merge->capture;

	for (size_t i = 0; i < capture->frame_count; i++) {
		const struct native_frame *native = &capture->frames[i];
		size_t count = count_within(capture, native, merge->next);
		add_python(merge, merge->next + count);
		if (count > 0 ? merge->has_internals : merge_is_shown(merge, native))
			add_native(merge, native);
	}
	add_python(merge, capture->python_count);
}

/*
 * Adds the native frames that are newer than the interpreter's newest frame, then all Python
 * frames.
 */
static void merge_above(struct merge *merge)
{
	const struct capture *capture = merge->capture;

	for (size_t i = 0; i < capture->frame_count; i++) {
		if (capture->frames[i].is_interpreter)
			break;
		add_native(merge, &capture->frames[i]);
	}
	add_python(merge, capture->python_count);
}

const struct stack *merge_stack(struct capture *capture, struct stack_table *table,
				bool has_internals)
{
	struct merge merge = {
		.capture = capture,
		.table = table,
		.has_internals = has_internals,
		.beginning = find_beginning(capture),
	};
	const struct stack *stack = NULL;
	size_t cut = 0;

	if (!has_anchors(capture))
		anchor_by_loops(capture);
	if (merge_fits(capture))
		merge_by_anchors(&merge);
	else
		merge_above(&merge);
	if (merge.count > STACK_FRAMES_MAXIMUM)
		cut = merge.count - STACK_FRAMES_MAXIMUM;
	if (merge.native_count > 0)
		stack = stack_table_stack(table, merge.frames, merge.count - cut,
					  capture->python_dropped + cut);
	free(merge.frames);
	return stack;
}

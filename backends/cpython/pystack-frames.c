/* pystack-frames: the frames of one thread, or task, of the newest sample. */
#include "backends/cpython/pystack-private.h"

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyasyncio.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytask.h"
#include "base/array.h"

const struct pytask *pystack_find_state(const struct pystack *pystack, uint64_t state)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (pystack->tasks[i]->state.address == state && !pystack->tasks[i]->is_gone)
			return pystack->tasks[i];
	return NULL;
}

/* Frames of a task. A running task: its thread's newest frames up to the task's coroutine. */
struct pywalk pystack_walk_of(const struct pystack *pystack, const struct pyasyncio_task *task,
			      const struct pytask *pytask)
{
	uint64_t frame = pyasyncio_frame(pystack->asyncio, task);

	for (size_t i = 0; task->is_running && pytask && i < pytask->walk->count; i++)
		if (pytask->walk->frames[i].address == frame)
			return (struct pywalk){
				.frames = pytask->walk->frames,
				.count = i + 1,
			};
	return task->walk;
}

static struct pytask *pystack_frames_find_thread(const struct pystack *pystack, pid_t tid,
						 int interpreter)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (pystack->tasks[i]->task.tid == tid &&
		    pystack->tasks[i]->state.number == interpreter)
			return pystack->tasks[i];
	return NULL;
}

static struct pywalk task_walk(const struct pystack *pystack, const struct pyasyncio_task *task)
{
	return pystack_walk_of(pystack, task, pystack_find_state(pystack, task->thread));
}

/* The frames are borrowed; count 0: no such thread. */
static struct pywalk find_walk(const struct pystack *pystack, pid_t tid, int interpreter)
{
	const struct pyasyncio_task *task = tid < 0 ? pyasyncio_find(pystack->asyncio, -tid) : NULL;
	const struct pytask *pytask =
		tid < 0 ? NULL : pystack_frames_find_thread(pystack, tid, interpreter);

	if (task)
		return task_walk(pystack, task);
	return pytask ? *pytask->walk : (struct pywalk){ .count = 0 };
}

static int find_task_frame(const struct pystack *pystack, int number, int depth,
			   struct pyobject_frame *frame)
{
	const struct pyasyncio_task *task = pyasyncio_find(pystack->asyncio, number);
	struct pywalk walk;

	if (!task)
		return -1;
	walk = task_walk(pystack, task);
	if (depth < 0 || (size_t)depth >= walk.count)
		return -1;
	*frame = (struct pyobject_frame){
		.address = walk.frames[depth].address,
		.thread = task->is_running ? task->thread : 0,
	};
	if (!task->is_running)
		frame->coroutine = frame->address - (uint64_t)pystack->python->offsets.gen_frame;
	return 0;
}

int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter, int depth,
		  struct pyobject_frame *frame)
{
	const struct pytask *pytask;

	if (tid < 0)
		return find_task_frame(pystack, -tid, depth, frame);
	pytask = pystack_frames_find_thread(pystack, tid, interpreter);
	if (!pytask || depth < 0 || (size_t)depth >= pytask->walk->count)
		return -1;
	*frame = (struct pyobject_frame){
		.address = pytask->walk->frames[depth].address,
		.thread = pytask->state.address,
		.is_newest = depth == 0,
	};
	return 0;
}

static void pystack_frames_prepare_codes(struct pystack *pystack, const struct pywalk *walk)
{
	pystack->addresses = array_grow(pystack->addresses, walk->count, &pystack->address_capacity,
					sizeof(*pystack->addresses));
	for (size_t i = 0; i < walk->count; i++)
		pystack->addresses[i] = walk->frames[i].code;
	pycode_prepare(pystack->codes, pystack->addresses, walk->count);
}

int pystack_walk_again(struct pystack *pystack, pid_t tid, int interpreter, struct memory *memory)
{
	struct pytask *pytask = pystack_frames_find_thread(pystack, tid, interpreter);

	if (!pytask || pytask_walk_again(pytask, memory, pystack->python) < 0)
		return -1;
	pystack_frames_prepare_codes(pystack, pytask->walk);
	return 0;
}

size_t pystack_frame_count(const struct pystack *pystack, pid_t tid, int interpreter,
			   size_t *dropped)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);

	*dropped = walk.dropped_count;
	return walk.count;
}

const struct code *pystack_code(const struct pystack *pystack, pid_t tid, int interpreter,
				int depth)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);
	const struct pycode *code = pycode_find(pystack->codes, walk.frames[depth].code);

	return code ? code->code : pycode_unknown(pystack->table);
}

int pystack_line(const struct pystack *pystack, pid_t tid, int interpreter, int depth)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);
	const struct pyframe *frame = &walk.frames[depth];
	const struct pycode *code = pycode_find(pystack->codes, frame->code);

	return code ? pycode_line(code, pystack->python, frame->position) : 0;
}

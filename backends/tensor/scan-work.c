/*
 * The parts of a scan are processed by lanes: each lane runs one loop_work() call at a time, and
 * takes the next parts when that call has ended. Between two calls the loop and its threads serve
 * other work.
 *
 * A system call that does not return (memory mapped from an unreachable file server) cannot be
 * interrupted. So done() does not wait for the lanes: it reports the end of the work, which is
 * freed when the last lane has returned.
 */
#include "backends/tensor/scan-work.h"

#include <jansson.h>
#include <stdlib.h>

#include "backends/node.h"
#include "backends/tensor/scan-phases.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/json.h"
#include "base/loop.h"

/*
 * Two lanes read about as fast as one processor reads its own memory, if pages are huge. Four lanes
 * would be faster with small pages, where each lane waits while the kernel looks up pages; but the
 * processors belong to the job, which is running.
 */
#define LANES 2
/* Seconds until the first progress report, and between two reports, respectively. */
#define PROGRESS_DELAY 0.4
#define PROGRESS_PERIOD 0.25

struct lane {
	struct tensor_work *work;
	size_t first; /* index of the first part that the lane processes */
	size_t count;
	int64_t bins[TENSOR_BINS_MAXIMUM];
	bool is_failed;
	struct error error;
};

struct tensor_work {
	struct loop *loop;
	struct node *node; /* NULL: progress goes to calls */
	struct tensor_work_calls calls;
	struct scan_phases phases;
	struct lane lanes[LANES];
	int running;
	size_t next;	      /* index of the first part that no lane has taken */
	bool has_failed_lane; /* a lane of this phase failed; only the loop's thread writes this */
	bool is_failed;
	bool is_told; /* true: done() was called */
	bool has_progress;
	struct loop_timer *end; /* timer that calls done(); NULL: the work is not ending yet */
	struct loop_timer *timeout;
	struct loop_timer *progress;
};

void tensor_result_clear(struct tensor_result *result)
{
	tensor_clear(&result->told);
	tensor_slice_clear(&result->slice);
	free(result->data);
	*result = (struct tensor_result){ .found = -1 };
	tensor_init(&result->told);
}

static void free_when_over(struct tensor_work *work)
{
	if (!work->is_told || work->running > 0)
		return;
	scan_phases_clear(&work->phases);
	free(work);
}

static void scan_work_stop_timer(struct loop_timer **timer)
{
	if (*timer)
		loop_timer_stop(*timer);
	*timer = NULL;
}

static void scan_work_tell_progress(struct tensor_work *work, int64_t done, int64_t total)
{
	json_t *body;

	work->has_progress = true;
	if (work->calls.progress)
		work->calls.progress(done, total, work->calls.data);
	if (!work->node)
		return;
	body = json_object();
	json_object_set_new(body, "pid", json_integer(work->phases.layout.pid));
	json_set_text(body, "title", "tensor");
	json_object_set_new(body, "done", json_integer(done));
	json_object_set_new(body, "total", json_integer(total));
	json_set_text(body, "message", "");
	node_emit(work->node, EVENT_PROGRESS, body);
}

/*
 * Ends the work and calls done(). After a failure the result contains nothing that a lane may still
 * write.
 */
static void scan_work_tell_end(struct tensor_work *work)
{
	struct tensor_result failed = { .found = -1 };
	struct tensor_result *result = &work->phases.result;

	scan_work_stop_timer(&work->end);
	scan_work_stop_timer(&work->timeout);
	scan_work_stop_timer(&work->progress);
	work->is_told = true;
	if (work->has_progress)
		scan_work_tell_progress(work, 0, 0);
	if (work->is_failed) {
		tensor_init(&failed.told);
		failed.error = result->error;
		result = &failed;
	}
	if (work->calls.done)
		work->calls.done(result, work->calls.data);
	if (work->node)
		node_flush(work->node);
	free_when_over(work);
}

static void scan_work_on_end(void *data)
{
	scan_work_tell_end(data);
}

/*
 * Calls done() from a timer, never within the caller's tensor_work_begin() or tensor_work_cancel().
 */
static void end_soon(struct tensor_work *work)
{
	if (!work->end)
		work->end = loop_timer(work->loop, 0, 0, scan_work_on_end, work);
}

static void scan_work_fail(struct tensor_work *work, const struct error *error)
{
	if (work->is_failed)
		return;
	work->is_failed = true;
	work->phases.result.error = *error;
	atomic_store(&work->phases.stop, true);
}

/*
 * Lanes
 */

static void run_parts(void *data)
{
	struct lane *lane = data;
	struct scan_phases *phases = &lane->work->phases;
	int64_t *bins = phases->scan.histogram.bin_count > 0 ? lane->bins : NULL;

	for (size_t i = 0; i < lane->count && !lane->is_failed; i++) {
		struct scan_part *part = &phases->ranges.parts[lane->first + i];

		scan_run(&phases->scan, part, bins, &lane->error);
		lane->is_failed = part->is_failed;
	}
}

static void run_places(void *data)
{
	struct lane *lane = data;

	lane->is_failed = scan_phases_read_places(&lane->work->phases, &lane->error) < 0;
}

static void on_lane(void *data);

static void scan_work_start(struct lane *lane, void (*run)(void *data))
{
	lane->work->running++;
	loop_work(lane->work->loop, run, on_lane, lane);
}

static bool scan_work_take_parts(struct lane *lane)
{
	struct tensor_work *work = lane->work;
	struct scan_ranges *ranges = &work->phases.ranges;

	if (work->is_failed || work->has_failed_lane || work->next == ranges->count ||
	    scan_phases_is_found(&work->phases))
		return false;
	lane->first = work->next;
	lane->count = scan_ranges_take(ranges, &work->phases.scan.elements, work->next);
	work->next += lane->count;
	scan_work_start(lane, run_parts);
	return true;
}

static void begin_phase(struct tensor_work *work)
{
	enum phase phase = scan_phases_next(&work->phases);

	work->next = 0;
	work->has_failed_lane = false;
	for (size_t i = 0; i < LANES; i++)
		work->lanes[i] = (struct lane){ .work = work };
	if (phase == PHASE_PLACES) {
		scan_work_start(&work->lanes[0], run_places);
		return;
	}
	for (size_t i = 0; phase != PHASE_END && i < LANES; i++)
		scan_work_take_parts(&work->lanes[i]);
}

static void add_bins(struct tensor_work *work)
{
	struct tensor_histogram *histogram = &work->phases.result.told.histogram;

	if (work->phases.scan.histogram.bin_count == 0)
		return;
	histogram->bins = xcalloc(histogram->count, sizeof(*histogram->bins));
	for (size_t i = 0; i < LANES; i++)
		for (size_t j = 0; j < histogram->count; j++)
			histogram->bins[j] += work->lanes[i].bins[j];
}

/* Ends the current phase, and each following phase that has nothing to do. */
static void scan_work_go_on(struct tensor_work *work)
{
	while (work->running == 0) {
		if (work->phases.phase == PHASE_END) {
			end_soon(work);
			return;
		}
		if (work->phases.phase != PHASE_PLACES) {
			scan_phases_fold(&work->phases);
			add_bins(work);
		}
		work->phases.phase++;
		begin_phase(work);
	}
}

static void on_failed(struct tensor_work *work)
{
	const struct lane *first = NULL;

	for (size_t i = 0; i < LANES; i++)
		if (work->lanes[i].is_failed && (!first || work->lanes[i].first < first->first))
			first = &work->lanes[i];
	if (!first) {
		scan_work_go_on(work);
	} else if (scan_phases_again(&work->phases)) {
		begin_phase(work);
	} else {
		scan_work_fail(work, &first->error);
		end_soon(work);
	}
}

static void on_lane(void *data)
{
	struct lane *lane = data;
	struct tensor_work *work = lane->work;

	work->running--;
	work->has_failed_lane |= lane->is_failed;
	if (work->is_told) {
		free_when_over(work);
		return;
	}
	for (size_t i = 0; i < lane->count && !lane->is_failed; i++)
		work->phases.ranges.parts[lane->first + i].is_done = true;
	/* After a failure no lane takes further parts; the last lane to return ends the phase. */
	if (work->is_failed || (!lane->is_failed && scan_work_take_parts(lane)))
		return;
	if (work->running == 0)
		on_failed(work);
}

/*
 * Begin and end
 */

static void on_timeout(void *data)
{
	struct tensor_work *work = data;
	struct error error = ERROR_INIT;

	error_set(&error,
		  "the elements were not read in time: read a sample, or raise the timeout");
	scan_work_stop_timer(&work->timeout);
	scan_work_fail(work, &error);
	scan_work_tell_end(work);
}

static void scan_work_on_progress(void *data)
{
	struct tensor_work *work = data;

	scan_work_tell_progress(work, atomic_load(&work->phases.done),
				scan_phases_total(&work->phases));
	if (work->node)
		node_flush(work->node);
}

static struct tensor_work *scan_work_begin(struct loop *loop, struct node *node,
					   const struct tensor_layout *layout,
					   const struct tensor_query *query,
					   const struct tensor_work_calls *calls)
{
	struct tensor_work *work = xcalloc(1, sizeof(*work));
	struct error error = ERROR_INIT;

	work->loop = loop;
	work->node = node;
	work->calls = *calls;
	if (scan_phases_init(&work->phases, layout, query, &error) < 0) {
		scan_work_fail(work, &error);
		end_soon(work);
		return work;
	}
	work->timeout = loop_timer(loop, query->timeout, 0, on_timeout, work);
	if (node || calls->progress)
		work->progress = loop_timer(loop, PROGRESS_DELAY, PROGRESS_PERIOD,
					    scan_work_on_progress, work);
	begin_phase(work);
	if (work->running == 0)
		scan_work_go_on(work);
	return work;
}

struct tensor_work *tensor_work_start(struct loop *loop, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      const struct tensor_work_calls *calls)
{
	return scan_work_begin(loop, NULL, layout, query, calls);
}

struct tensor_work *tensor_work_begin(struct node *node, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      void (*done)(struct tensor_result *result, void *data),
				      void *data)
{
	struct tensor_work_calls calls = { .done = done, .data = data };

	return scan_work_begin(node_loop(node), node, layout, query, &calls);
}

void tensor_work_cancel(struct tensor_work *work)
{
	struct error error = ERROR_INIT;

	error_set(&error, "cancelled");
	scan_work_fail(work, &error);
	end_soon(work);
}

void tensor_work_forget(struct tensor_work *work)
{
	work->calls = (struct tensor_work_calls){ .done = NULL };
	work->node = NULL;
	tensor_work_cancel(work);
}

#include "backends/ptrace/bdb.h"

#include "banned.h"

/* cmdframe and cmdlineno exist from Python 3.13.6 on (gh-136057). */
#define FIRST_ONCE_A_LINE 0x030d0600

static void set_stop(struct bdb *bdb, uint64_t stop_frame, uint64_t return_frame, int line)
{
	bdb->stop_frame = stop_frame;
	bdb->return_frame = return_frame;
	bdb->stop_line = line;
	bdb->command_frame = 0;
	bdb->command_line = 0;
}

static void bdb_set_command(struct bdb *bdb, uint64_t frame, int line)
{
	if (!bdb->is_once_a_line)
		return;
	bdb->command_frame = frame;
	bdb->command_line = line;
}

void bdb_init(struct bdb *bdb, uint32_t version)
{
	*bdb = (struct bdb){ .is_once_a_line = version >= FIRST_ONCE_A_LINE };
	bdb_continue(bdb);
}

void bdb_continue(struct bdb *bdb)
{
	set_stop(bdb, BDB_NOWHERE, 0, -1);
}

void bdb_step(struct bdb *bdb, const struct bdb_event *event)
{
	set_stop(bdb, BDB_ANYWHERE, 0, 0);
	bdb_set_command(bdb, event->frame, event->line);
}

void bdb_next(struct bdb *bdb, uint64_t frame, int line)
{
	set_stop(bdb, frame, 0, 0);
	bdb_set_command(bdb, frame, line);
}

void bdb_until(struct bdb *bdb, uint64_t frame, int line)
{
	set_stop(bdb, frame, frame, line);
}

void bdb_finish(struct bdb *bdb, uint64_t frame, uint64_t caller, bool is_endless)
{
	if (is_endless)
		set_stop(bdb, frame, frame, -1);
	else
		set_stop(bdb, caller ? caller : BDB_NOWHERE, frame, caller ? 0 : -1);
}

static bool stops_here(const struct bdb *bdb, const struct bdb_event *event)
{
	if (bdb->stop_frame == BDB_ANYWHERE)
		return true;
	return event->frame == bdb->stop_frame && bdb->stop_line != -1 &&
	       event->line >= bdb->stop_line;
}

bool bdb_line(const struct bdb *bdb, const struct bdb_event *event, bool is_break)
{
	if (!is_break && !stops_here(bdb, event))
		return false;
	return bdb->command_frame == 0 || event->frame != bdb->command_frame ||
	       event->line != bdb->command_line;
}

/*
 * True if the event is one of a generator's resumptions: a generator has call and return events at
 * each value, and only `step` stops at them.
 */
static bool is_resumption(const struct bdb *bdb, const struct bdb_event *event)
{
	return bdb->stop_frame != BDB_ANYWHERE && event->is_generator;
}

bool bdb_call(const struct bdb *bdb, const struct bdb_event *event)
{
	return stops_here(bdb, event) && !is_resumption(bdb, event);
}

bool bdb_return(const struct bdb *bdb, const struct bdb_event *event)
{
	if (event->is_last && event->is_generator && event->frame == bdb->stop_frame)
		return true;
	if (!stops_here(bdb, event) && event->frame != bdb->return_frame)
		return false;
	return event->is_last || !is_resumption(bdb, event);
}

/*
 * While its stopframe is a generator, bdb also stops in other frames at a StopIteration or
 * GeneratorExit. That is left out here: it would need a watch on the thread's current exception,
 * which also triggers in every called function.
 */
bool bdb_exception(const struct bdb *bdb, const struct bdb_event *event)
{
	return stops_here(bdb, event);
}

void bdb_returned(struct bdb *bdb, const struct bdb_event *event)
{
	if (bdb->stop_frame == event->frame && bdb->stop_line != -1)
		set_stop(bdb, BDB_ANYWHERE, 0, 0);
}

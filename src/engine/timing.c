#include "engine/timing.h"

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/loop.h"

static const char *const part_names[TIMING_PARTS] = {
	[TIMING_MAIN] = "start of probetui (processor time before main)",
	[TIMING_SPAWNED] = "settings, fork and exec of the node",
	[TIMING_NODE] = "start of the node, to its first answer",
	[TIMING_DISCOVERED] = "discovery",
	[TIMING_SAMPLED] = "sampling",
	[TIMING_JUDGED] = "verdict",
	[TIMING_WRITTEN] = "output of text or JSON",
};

void timing_mark(struct timing *timing, enum timing_part part)
{
	struct timespec used;

	if (timing->at[part] > 0)
		return;
	timing->at[part] = loop_now();
	if (part == TIMING_MAIN && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
		timing->loading = (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void timing_append_part(struct buffer *out, double seconds, const char *name)
{
	buffer_printf(out, "%8.3f ms  %s\n", seconds * 1e3, name);
}

void timing_append(struct buffer *out, const struct timing *timing)
{
	double last = timing->at[TIMING_MAIN];

	timing_append_part(out, timing->loading, part_names[TIMING_MAIN]);
	for (size_t part = TIMING_MAIN + 1; part < TIMING_PARTS; part++) {
		if (timing->at[part] <= 0)
			continue;
		timing_append_part(out, timing->at[part] - last, part_names[part]);
		last = timing->at[part];
	}
	timing_append_part(out, last - timing->at[TIMING_MAIN] + timing->loading, "total");
	timing_append_part(out, timing->parsing, "of which: parsing the node's JSON");
}

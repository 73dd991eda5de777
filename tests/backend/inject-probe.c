/*
 * inject-probe: PID FILE SECONDS: has a process run a script, and prints in
 * JSON how that went.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backends/backend.h"
#include "backends/inject/inject.h"
#include "backends/ptrace/holds.h"
#include "banned.h"
#include "base/loop.h"

static const char *const ways[] = {
	[INJECT_NONE] = "",
	[INJECT_BY_INTERPRETER] = "interpreter",
	[INJECT_BY_PENDING_CALL] = "pending call",
	[INJECT_BY_THREAD] = "thread",
};

static void tell(const struct inject *inject, const struct reason *reason)
{
	struct inject_cost cost = { .way = INJECT_NONE };

	if (inject)
		inject_cost(inject, &cost);
	printf("{\"ok\": %s, \"way\": \"%s\", \"stops\": %u, "
	       "\"pause_us\": %.1f, \"why\": \"%s\", \"fix\": \"%s\"}\n",
	       reason ? "false" : "true", ways[cost.way], cost.stops,
	       (double)cost.longest_ns / 1e3, reason ? reason->why : "",
	       reason ? reason->fix : "");
}

static void on_done(struct inject *inject, const struct reason *reason,
		    void *data)
{
	struct loop *loop = data;

	tell(inject, reason);
	inject_free(inject);
	loop_stop(loop);
}

int main(int count, char **words)
{
	struct holds *holds;
	struct reason reason;
	struct loop *loop;

	if (count != 4)
		return 2;
	loop = loop_new();
	holds = holds_new(loop);
	if (inject_new(loop, holds, (pid_t)strtol(words[1], NULL, 10), words[2],
		       strtod(words[3], NULL), on_done, loop, &reason))
		loop_run(loop);
	else
		tell(NULL, &reason);
	holds_free(holds);
	loop_free(loop);
	return 0;
}

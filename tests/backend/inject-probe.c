/*
 * inject-probe: PID FILE SECONDS [POINT]: has a process run a script, and
 * prints in JSON how that went. At that point (remote-call.h) it kills itself.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/inject/inject.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/loop.h"

static const char *const ways[] = {
	[INJECT_NONE] = "",
	[INJECT_BY_PENDING_CALL] = "pending call",
	[INJECT_BY_THREAD] = "thread",
};

static void tell(const struct inject *inject, const struct reason *reason)
{
	struct inject_cost cost = { .way = INJECT_NONE };

	if (inject)
		inject_cost(inject, &cost);
	printf("{\"ok\": %s, \"way\": \"%s\", \"stops\": %u, \"turns\": %u, \"pause_us\": %.1f, "
	       "\"away_us\": %.1f, \"why\": \"%s\", \"fix\": \"%s\"}\n",
	       reason ? "false" : "true", ways[cost.way], cost.stops, cost.turns,
	       (double)cost.longest_ns / 1e3, (double)cost.away_ns / 1e3, reason ? reason->why : "",
	       reason ? reason->fix : "");
}

static void on_done(struct inject *inject, const struct reason *reason, void *data)
{
	struct loop *loop = data;

	tell(inject, reason);
	inject_free(inject);
	loop_stop(loop);
}

static void on_passing(const char *point, void *data)
{
	if (strcmp(point, data) == 0)
		kill(getpid(), SIGKILL);
}

int main(int count, char **words)
{
	struct inject *inject;
	struct freezer *holds;
	struct reason reason;
	struct loop *loop;

	if (count != 4 && count != 5)
		return 2;
	loop = loop_new();
	holds = freezer_new(loop);
	inject = inject_new(loop, holds, (pid_t)strtol(words[1], NULL, 10), words[2],
			    strtod(words[3], NULL), on_done, loop, &reason);
	if (inject && count == 5)
		inject_watch(inject, on_passing, words[4]);
	if (inject)
		loop_run(loop);
	else
		tell(NULL, &reason);
	freezer_free(holds);
	loop_free(loop);
	return 0;
}

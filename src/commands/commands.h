/*
 * commands: the commands of the engine, in the order of `help`. Each command's row is in the file
 * of its code (command-ranks.c, command-diff.c, ...).
 */
#ifndef COMMANDS_COMMANDS_H
#define COMMANDS_COMMANDS_H

struct command;
struct command_context;
struct error;

/* clang-format off */
#define ENGINE_COMMANDS(X) \
	X(ranks) X(verdict) X(stacks) X(diff) X(collectives) X(jobs) X(locals) X(output) \
	X(doctor) \
	X(inject) X(pprof) X(query) X(eject) X(catch) X(execute) X(report) X(post_mortem) \
	X(rank) X(thread) X(frame) X(up) X(down) X(focus) X(name) X(where) X(wait) \
	X(connect) X(detach) X(pause) X(next) X(step) X(continue) X(release) X(finish) \
	X(until) X(jump) \
	X(break) X(tbreak) X(watch) X(watch_nan) X(clear) X(enable) X(disable) X(ignore) \
	X(condition) X(display) X(undisplay) \
	X(print) X(assign) X(eval) X(compare) X(tensor) X(diff_params) X(broadcast) \
	X(terminate) X(set) X(completion) X(help) X(quit)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command command_##name;
ENGINE_COMMANDS(DECLARE_COMMAND)

/*
 * Waits for the ranks' answers to the code that was sent last, and prints the answers; sets
 * context->status. -1, *error: no rank has run the code.
 */
int command_answer_evaluated(struct command_context *context, struct error *error);
/* Prints the `display` expressions if the selected rank (or child) is stopped; else nothing. */
void command_display_stop(struct command_context *context);
/*
 * In a shell: waits at most seconds for watch-nan to find a NaN or to end, and prints the result.
 * -1, *error: the expression could never be read.
 */
int watch_nan_wait(struct command_context *context, double seconds, struct error *error);

#endif

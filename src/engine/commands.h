/*
 * commands: what the rows of the engine's command table run. One file a
 * noun: command-ranks.c, command-diff.c, command-locals.c …
 */
#ifndef ENGINE_COMMANDS_H
#define ENGINE_COMMANDS_H

struct command_context;
struct error;
struct frame;
struct rank;
struct rankset;
struct thread;
struct variable_list;

int command_ranks(struct command_context *context, int argc, char **argv, struct error *error);
int command_verdict(struct command_context *context, int argc, char **argv, struct error *error);
int command_stacks(struct command_context *context, int argc, char **argv, struct error *error);
int command_diff(struct command_context *context, int argc, char **argv, struct error *error);
int command_locals(struct command_context *context, int argc, char **argv, struct error *error);
int command_doctor(struct command_context *context, int argc, char **argv, struct error *error);
int command_report(struct command_context *context, int argc, char **argv, struct error *error);
int command_rank(struct command_context *context, int argc, char **argv, struct error *error);
int command_thread(struct command_context *context, int argc, char **argv, struct error *error);
int command_frame(struct command_context *context, int argc, char **argv, struct error *error);
int command_up(struct command_context *context, int argc, char **argv, struct error *error);
int command_down(struct command_context *context, int argc, char **argv, struct error *error);
int command_focus(struct command_context *context, int argc, char **argv, struct error *error);
int command_jobs(struct command_context *context, int argc, char **argv, struct error *error);
int command_name(struct command_context *context, int argc, char **argv, struct error *error);
int command_where(struct command_context *context, int argc, char **argv, struct error *error);
int command_connect(struct command_context *context, int argc, char **argv, struct error *error);
int command_missing(struct command_context *context, int argc, char **argv, struct error *error);
int command_inject(struct command_context *context, int argc, char **argv, struct error *error);
int command_eject(struct command_context *context, int argc, char **argv, struct error *error);
int command_detach(struct command_context *context, int argc, char **argv, struct error *error);
int command_pause(struct command_context *context, int argc, char **argv, struct error *error);
int command_next(struct command_context *context, int argc, char **argv, struct error *error);
int command_step(struct command_context *context, int argc, char **argv, struct error *error);
int command_continue(struct command_context *context, int argc, char **argv, struct error *error);
int command_finish(struct command_context *context, int argc, char **argv, struct error *error);
int command_until(struct command_context *context, int argc, char **argv, struct error *error);
int command_jump(struct command_context *context, int argc, char **argv, struct error *error);
int command_release(struct command_context *context, int argc, char **argv, struct error *error);
int command_terminate(struct command_context *context, int argc, char **argv, struct error *error);
int command_break(struct command_context *context, int argc, char **argv, struct error *error);
int command_watch(struct command_context *context, int argc, char **argv, struct error *error);
int command_watch_nan(struct command_context *context, int argc, char **argv, struct error *error);
int command_tbreak(struct command_context *context, int argc, char **argv, struct error *error);
int command_clear(struct command_context *context, int argc, char **argv, struct error *error);
int command_enable(struct command_context *context, int argc, char **argv, struct error *error);
int command_disable(struct command_context *context, int argc, char **argv, struct error *error);
int command_ignore(struct command_context *context, int argc, char **argv, struct error *error);
int command_condition(struct command_context *context, int argc, char **argv, struct error *error);
int command_print(struct command_context *context, int argc, char **argv, struct error *error);
int command_eval(struct command_context *context, int argc, char **argv, struct error *error);
int command_assign(struct command_context *context, int argc, char **argv, struct error *error);
int command_execute(struct command_context *context, int argc, char **argv, struct error *error);
int command_catch(struct command_context *context, int argc, char **argv, struct error *error);
/* What the last code gave, and its status; -1: no rank has run it. */
int command_append_evaluated(struct command_context *context, struct error *error);
int command_compare(struct command_context *context, int argc, char **argv, struct error *error);
int command_tensor(struct command_context *context, int argc, char **argv, struct error *error);
int command_diff_params(struct command_context *context, int argc, char **argv,
			struct error *error);
int command_broadcast(struct command_context *context, int argc, char **argv, struct error *error);
/* What is displayed, where the rank looked at is stopped; else nothing. */
void command_display_stop(struct command_context *context);
int command_display(struct command_context *context, int argc, char **argv, struct error *error);
int command_undisplay(struct command_context *context, int argc, char **argv, struct error *error);
int command_wait(struct command_context *context, int argc, char **argv, struct error *error);
int command_output(struct command_context *context, int argc, char **argv, struct error *error);
int command_set(struct command_context *context, int argc, char **argv, struct error *error);
int command_completion(struct command_context *context, int argc, char **argv, struct error *error);
int command_help(struct command_context *context, int argc, char **argv, struct error *error);
int command_quit(struct command_context *context, int argc, char **argv, struct error *error);

#endif

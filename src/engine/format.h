/*
 * format: the output of commands. In JSON an unknown value is null. Text is for people: terse,
 * aligned, and safe to show on a terminal, because strings of the target are escaped.
 *
 * All functions read the session and change nothing. JSON values are new references.
 */
#ifndef ENGINE_FORMAT_H
#define ENGINE_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct answer_classes;
struct answers;
struct breakpoint_summary;
struct buffer;
struct frame;
struct paramdiff;
struct process;
struct rank;
struct rankset;
struct session;
struct stackdiff;
struct stacktree_node;
struct tensordiff;
struct thread;
struct variable_list;

/* Appends the value as one line of JSON that is safe on a terminal; releases the value. */
void format_document(struct buffer *out, json_t *owned_value);

json_t *format_json_set(const struct rankset *set);
json_t *format_json_frame(const struct process *process, const struct frame *frame, size_t depth);
json_t *format_json_thread(const struct session *session, const struct rank *rank,
			   const struct thread *thread);
json_t *format_json_rank(const struct session *session, const struct rank *rank);
json_t *format_json_verdict(const struct session *session);
/*
 * Returns {"frames", "ranks", "count", "is_outlier", "children"}: frames is the chain of frames
 * that the same ranks share, outermost first; children has one tree for each subset of these ranks
 * with another callee.
 */
json_t *format_json_tree(const struct session *session, const struct stacktree_node *node);
/* Returns an array. Call jobs_name_users() before: the users' names are printed. */
json_t *format_json_jobs(const struct session *session);
/* a and b are the processes of the two stacks; they decide which frames count as user code. */
json_t *format_json_rows(const struct stackdiff *diff, const struct process *a,
			 const struct process *b);
json_t *format_json_variables(const struct variable_list *list);

/* Appends a string of a target, escaped; NULL is "?". */
void format_text(struct buffer *out, const char *text);
/*
 * Prepares a sentence to follow a colon: changes the first letter to lower case, if the first word
 * is one like "The" and not a name.
 */
void format_clause(char *sentence);
/* Appends "train (train.py:17)". */
void format_text_frame(struct buffer *out, const struct frame *frame);
/* One line per rank: number, pid, class, state, activity, user frame. */
void format_text_ranks(struct buffer *out, const struct session *session,
		       const struct rankset *ranks);
/* The verdict's sentence, then one line per class. */
void format_text_verdict(struct buffer *out, const struct session *session);
/* One line per job, and one for its verdict if it was judged. */
void format_text_jobs(struct buffer *out, const struct session *session);
/* Appends "pid 4711"; of several machines "n2:4711"; nothing if there is no process. */
void format_text_process(struct buffer *out, const struct session *session,
			 const struct rank *rank);
/* "rank 3  pid 4711  sleeping"; of several machines "rank 3  n2:4711  sleeping". */
void format_text_rank(struct buffer *out, const struct session *session, const struct rank *rank);
/* "  thread 4711 MainThread  blocked  all_reduce" */
void format_text_thread(struct buffer *out, const struct thread *thread);
void format_text_tree(struct buffer *out, const struct stacktree_node *root, bool is_ascii);
void format_text_diff(struct buffer *out, const struct stackdiff *diff);
/* One line per variable; each line begins with indent. */
void format_text_variables(struct buffer *out, const struct variable_list *list,
			   const char *indent);

/* The JSON document of `diff-params`; as text one line per parameter that differs. */
json_t *format_json_parameters(const struct paramdiff *diff);
void format_text_parameters(struct buffer *out, const struct paramdiff *diff);

/* The answers of ranks: as text one line per class; as JSON the document of `compare`. */
void format_text_answers(struct buffer *out, const struct answers *answers,
			 const struct answer_classes *classes);
json_t *format_json_answers(const struct answers *answers, const struct answer_classes *classes);
/* {"rank", "against", "error"}, and the members of found if error is NULL. */
json_t *format_json_tensordiff(int rank, int against, const char *error,
			       const struct tensordiff *found);

/*
 * Appends "breakpoint 1: train.py:14 if step > 3, ranks 0-7 (8), hit 4"; is_told: ranks have
 * answered whether they set the breakpoint.
 */
void format_text_breakpoint(struct buffer *out, const struct breakpoint_summary *summary,
			    bool is_told);
json_t *format_json_breakpoint(const struct breakpoint_summary *summary);

/* True if ranks is empty (all) or contains rank. */
bool format_is_chosen(const struct rankset *ranks, const struct rank *rank);

#endif

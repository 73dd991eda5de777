/*
 * expression-lookup: what a request about a value names: an expression in a frame of a
 * thread, or the address of an object; and the look from outside that finds
 * it, without running anything in the process.
 *
 * A frame is counted from the outermost one where the asker says how many
 * there were: a debugger in the process may have frames of its own on top.
 */
#ifndef BACKENDS_TENSOR_EXPRESSION_LOOKUP_H
#define BACKENDS_TENSOR_EXPRESSION_LOOKUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/expression/pyexpression.h"
#include "protocol/variable.h"

struct error;
struct ptrace_connection;
struct pyreader;

struct expression_lookup {
	pid_t tid; /* 0: the main thread */
	int interpreter;
	int64_t depth;			 /* -1: not said */
	int64_t frames;			 /* as the asker knows the stack; -1: not said */
	bool is_searched;		 /* the frames from there on outwards */
	const char *function;		 /* that must be at depth; NULL: any */
	const char *text;		 /* of the expression; NULL: none */
	struct pyexpression *expression; /* NULL: address, or it is wrong */
	uint64_t address;
	const char *type; /* of the object there; NULL: any */
};

/*
 * From the arguments of a request, which are borrowed; -1 and a sentence. To
 * be cleared in any case.
 */
int expression_lookup_parse(struct expression_lookup *finding, const json_t *arguments,
			    struct error *error);
void expression_lookup_clear(struct expression_lookup *finding);
/* What it is called in a sentence. */
const char *expression_lookup_name(const struct expression_lookup *finding);

/*
 * Reads it now; the thread is held as shortly as can be, if it runs.
 * -1 and a sentence. To be cleared in any case.
 */
struct found {
	struct variable_list list; /* the value, one */
	struct pyexpression_value value;
	/* {"func", "file", "lineno", "depth"} as the asker counts; NULL: none */
	json_t *frame;
	int depth;    /* of that, as the stack is now */
	int above;    /* frames of those that the asker does not know of */
	int searched; /* so many frames, and none knows all the names; 0 */
	pid_t tid;
	uint64_t held_ns;    /* the thread was held so long; 0: it was not */
	uint64_t held_calls; /* that read its memory meanwhile */
	bool is_lost;	     /* on failure: the process is not what it was */
	/*
	 * On failure: who runs code in the process could tell, as the frame
	 * has all the names; the expression is only too much for a look.
	 */
	bool needs_code;
};
int expression_lookup_look(const struct expression_lookup *finding,
			   struct ptrace_connection *connection, struct found *found,
			   struct error *error);
void found_clear(struct found *found);

#endif

/*
 * pdb-requests: what the requests of the pipe are for a debugger: which can be
 * served in which state, the hidden question or the line that each becomes,
 * and what its answer becomes.
 */
#ifndef BACKENDS_PDB_PDB_REQUESTS_H
#define BACKENDS_PDB_PDB_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>

#include "backends/backend.h"
#include "backends/pdb/pdb-session.h"

struct error;

/* The request of a step, a breakpoint, variables …; NULL and a sentence. */
struct order *order_new(struct pdb_session *session, enum request_kind kind,
			const struct message *request, struct error *error);
/* One whose answer is dropped. */
struct order *order_new_line(const char *line);
struct order *order_new_breakpoints(json_t *owned_breakpoints);
void order_free(struct order *order);

/* Which request resumes the program by its line. */
enum resumed_by order_resumes(const struct order *order);
/* What the debugger says to its line is part of the answer. */
bool order_waits(const struct pdb_session *session, const struct order *order);
/* A line for the prompt that resumes the program, as far as is known. */
bool order_is_command(const struct order *order);

/* Each of these answers the request, where there is one; once. */

/* The question was answered. */
void order_answered(struct pdb_session *session, const struct order *order, const json_t *answer);
/* The line was typed, and it says this to it; "" nothing. */
void order_typed(struct pdb_session *session, const struct order *order, const char *text);
void order_failed(struct pdb_session *session, const struct order *order, const char *why);

#endif

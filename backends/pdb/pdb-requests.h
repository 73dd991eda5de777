/*
 * pdb-requests: serves the pipe's requests to a debugger: decides in which state a request is
 * served, turns it into a hidden question or a typed line (an order), and converts the answer.
 */
#ifndef BACKENDS_PDB_PDB_REQUESTS_H
#define BACKENDS_PDB_PDB_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>

#include "backends/backend.h"
#include "backends/pdb/pdb-session.h"

struct error;

/*
 * Makes the order for a request (step, breakpoints, variables …). Returns NULL and sets error if
 * the request is refused.
 */
struct order *order_new(struct pdb_session *session, enum request_kind kind,
			const struct message *request, struct error *error);
/* Makes an order whose answer is dropped. */
struct order *order_new_line(const char *line);
struct order *order_new_breakpoints(json_t *owned_breakpoints);
void order_free(struct order *order);

/* Returns how the order's line resumes the program. */
enum resumed_by order_resumes(const struct order *order);
/* Returns true if the debugger's output after the line is a part of the answer. */
bool order_waits(const struct pdb_session *session, const struct order *order);
/* Returns true if the line is one of pdb's commands that resume the program. */
bool order_is_command(const struct order *order);

/* Each of the following functions answers the order's request, if the order has one. */

/* To be called when the order's question was answered. */
void order_answered(struct pdb_session *session, const struct order *order, const json_t *answer);
/* To be called when the order's line was typed. text: the debugger's output; "": none. */
void order_typed(struct pdb_session *session, const struct order *order, const char *text);
void order_failed(struct pdb_session *session, const struct order *order, const char *why);

#endif

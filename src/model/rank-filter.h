/*
 * rank-filter: the ranks of the job that --ranks selects.
 *
 * Numbers and hosts restrict the job: other ranks are not shown at all. The other terms
 * (outlier, state=…) are only known once all ranks were sampled and judged: such a set
 * then becomes the focus, and the job stays complete.
 */
#ifndef MODEL_RANK_FILTER_H
#define MODEL_RANK_FILTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;
struct rank;
struct session;

/* Sets the filter before any rank is known; text has the grammar of rankselect.h. -1 and *error. */
int rank_filter_set(struct session *session, const char *text, struct error *error);
/*
 * Takes the selection stored in a recording, {"job", "ranks", "pids"}, unless the command
 * line has its own. If several recordings are replayed together, each one's ranks are
 * filtered by its own selection.
 */
void rank_filter_recorded(struct session *session, size_t node, const json_t *json);
void rank_filter_clear(struct session *session);
/* True if some ranks of the job may be left out. */
bool rank_filter_is_part(const struct session *session);
/* True if --ranks selects the rank, or is not given. */
bool rank_filter_has(const struct session *session, const struct rank *rank);
/*
 * Call after each verdict: once all ranks were sampled, the set becomes the focus, if
 * requested. -1 and *error: no rank matches. In both cases the request is done.
 */
int rank_filter_focus(struct session *session, struct error *error);

#endif

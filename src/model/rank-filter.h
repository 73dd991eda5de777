/*
 * rank-filter: the ranks of the job that --ranks selects.
 *
 * Numbers and hosts restrict the job: other ranks are not shown at all. Other terms (outlier,
 * state=…) can be resolved only after all ranks were sampled and judged: such a set then becomes
 * the focus, and all ranks of the job are shown.
 */
#ifndef MODEL_RANK_FILTER_H
#define MODEL_RANK_FILTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;
struct rank;
struct session;

/*
 * Sets the filter; call it before any rank is known. text has the grammar of rankselect.h. Returns
 * 0; -1 and *error.
 */
int rank_filter_set(struct session *session, const char *text, struct error *error);
/*
 * Takes the selection stored in a recording, {"job", "ranks", "pids"}, unless the command line has
 * a selection. If several recordings are replayed together, the ranks of each recording are
 * filtered by that recording's selection.
 */
void rank_filter_recorded(struct session *session, size_t node, const json_t *json);
void rank_filter_clear(struct session *session);
/* True if the filter may leave out ranks of the job. */
bool rank_filter_is_part(const struct session *session);
/* True if --ranks selects the rank, or is not given. */
bool rank_filter_has(const struct session *session, const struct rank *rank);
/*
 * Call after each verdict. Once all ranks were sampled, sets the focus to the ranks of --ranks, if
 * --ranks needed the verdict; does so only once. Returns 0; -1 and *error: no rank matches.
 */
int rank_filter_focus(struct session *session, struct error *error);

#endif

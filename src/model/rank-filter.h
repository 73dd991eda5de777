/*
 * rank-filter: which ranks of the job --ranks asks for.
 *
 * Numbers and machines narrow the job: other ranks are not looked at at all.
 * What ranks do is known only once all of them were sampled and judged: such
 * a set becomes the focus then, and the job stays whole.
 */
#ifndef MODEL_RANK_FILTER_H
#define MODEL_RANK_FILTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;
struct rank;
struct session;

/* Before any rank is known; text is of the grammar of rankselect. */
int rank_filter_set(struct session *session, const char *text, struct error *error);
/*
 * What the recorder of a node chose, {"job", "ranks", "pids"}, unless this
 * command line chooses. Where several recordings are looked at together, each
 * gives the ranks that it was to show.
 */
void rank_filter_recorded(struct session *session, size_t node, const json_t *json);
void rank_filter_clear(struct session *session);
/* Some ranks of the job may be left out. */
bool rank_filter_is_part(const struct session *session);
bool rank_filter_has(const struct session *session, const struct rank *rank);
/*
 * After each verdict: as soon as all ranks were sampled, the focus is set if
 * it was asked for. -1 and a sentence when no rank is meant; either way it is
 * done once.
 */
int rank_filter_focus(struct session *session, struct error *error);

#endif

/*
 * sentence: makes the verdict's sentence. Names from the target are escaped and cut.
 */
#ifndef MODEL_SENTENCE_H
#define MODEL_SENTENCE_H

#include <stdbool.h>

struct buffer;
struct wait_group_list;
struct session;

/* Results of the verdict's rules. Each result has its own sentence. */
enum finding {
	FINDING_NO_RANKS,
	FINDING_UNREAD,	    /* no rank was sampled yet */
	FINDING_UNREADABLE, /* no rank can be read */
	FINDING_ALL_GONE,   /* all ranks have exited */
	FINDING_GONE,	    /* rule 1: some ranks have exited or are shutting down */
	FINDING_HELD,	    /* some ranks are in a debugger */
	FINDING_STOPPED,    /* all ranks are stopped */
	FINDING_HOLDING, /* some ranks wait at breakpoint(ranks=…), and no rank is in a debugger */
	FINDING_LATE,	 /* rule 2: some ranks wait, the others are outliers */
	FINDING_UNSETTLED,   /* some ranks wait; one sample does not show whether the other ranks
			      * wait, too */
	FINDING_MAJORITY,    /* rule 3: most ranks are at one place, the other ranks are outliers */
	FINDING_WAIT_GROUPS, /* several wait groups, no majority */
	FINDING_TOGETHER,    /* all ranks at one place */
	FINDING_GRAPH,	     /* the graph of who waits for whom names the cause (wait-graph.h) */
	FINDING_MOVING,	     /* ranks change: the job makes progress */
	FINDINGS,	     /* number of findings */
};

/* Appends the verdict's sentence. is_still: at least two samples show that nothing has moved. */
void sentence_append(struct buffer *out, const struct session *session,
		     const struct wait_group_list *wait_groups, enum finding finding,
		     bool is_still);

#endif

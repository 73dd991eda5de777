/*
 * sentence: the verdict in words. Names from the target are escaped and cut.
 */
#ifndef MODEL_SENTENCE_H
#define MODEL_SENTENCE_H

#include <stdbool.h>

struct buffer;
struct wait_group_list;
struct session;

/* What the rules found; each has its own sentence. */
enum finding {
	FINDING_NO_RANKS,
	FINDING_UNREAD,	    /* no sample yet */
	FINDING_UNREADABLE, /* none can be read */
	FINDING_ALL_GONE,
	FINDING_GONE,	     /* rule 1 */
	FINDING_HELD,	     /* some are in a debugger */
	FINDING_STOPPED,     /* all are */
	FINDING_HOLDING,     /* some hold for others, none of whom is in one */
	FINDING_LATE,	     /* rule 2: some wait, the others are outliers */
	FINDING_UNSETTLED,   /* some wait; one sample does not show whether the
			      * others do */
	FINDING_MAJORITY,    /* rule 3: outliers outside the majority */
	FINDING_WAIT_GROUPS, /* no majority */
	FINDING_TOGETHER,    /* all at one place */
	FINDING_MOVING,
	FINDINGS, /* how many there are */
};

/* is_still: two samples or more say that nothing moved. */
void sentence_append(struct buffer *out, const struct session *session,
		     const struct wait_group_list *wait_groups, enum finding finding,
		     bool is_still);

#endif

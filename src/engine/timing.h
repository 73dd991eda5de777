/*
 * timing: times of the phases of a start. With PROBETUI_TIMING in the environment main prints them
 * to standard error.
 */
#ifndef ENGINE_TIMING_H
#define ENGINE_TIMING_H

struct buffer;

enum timing_part {
	TIMING_MAIN,	   /* main() began */
	TIMING_SPAWNED,	   /* the node's process was started */
	TIMING_NODE,	   /* the node answered the first request */
	TIMING_DISCOVERED, /* the ranks are known */
	TIMING_SAMPLED,	   /* the first sample of all ranks has come */
	TIMING_JUDGED,	   /* verdict and classes are computed */
	TIMING_WRITTEN,	   /* the output is written */
	TIMING_PARTS,
};

struct timing {
	double at[TIMING_PARTS]; /* monotonic clock; 0: did not happen */
	double parsing;		 /* seconds spent in parsing JSON of nodes */
	double loading;		 /* processor time used before main() */
};

/* Records the present time for part, unless it has a time already. */
void timing_mark(struct timing *timing, enum timing_part part);
/* Appends one line per part: milliseconds since the previous part, and the part's name. */
void timing_append(struct buffer *out, const struct timing *timing);

#endif

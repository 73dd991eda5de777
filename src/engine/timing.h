/*
 * timing: where the time of a start went. With PROBETUI_TIMING in the
 * environment main prints it to standard error.
 */
#ifndef ENGINE_TIMING_H
#define ENGINE_TIMING_H

struct buffer;

enum timing_part {
	TIMING_MAIN,	   /* main() began */
	TIMING_SPAWNED,	   /* the node's exec was asked for */
	TIMING_NODE,	   /* the node answered the first request */
	TIMING_DISCOVERED, /* the ranks are known */
	TIMING_SAMPLED,	   /* the first sample of all is there */
	TIMING_JUDGED,	   /* verdict and classes are made */
	TIMING_WRITTEN,	   /* the output is out */
	TIMING_PARTS,
};

struct timing {
	double at[TIMING_PARTS]; /* monotonic clock; 0: did not happen */
	double parsing;		 /* seconds spent in reading JSON */
	double loading;		 /* processor time used before main() */
};

/* Remembers the first time a part is reached. */
void timing_mark(struct timing *timing, enum timing_part part);
/* Appends a line a part: its name and the milliseconds since the last one. */
void timing_append(struct buffer *out, const struct timing *timing);

#endif

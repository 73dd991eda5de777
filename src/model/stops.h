/*
 * stops: the stops of all ranks in the order in which they happened, and what
 * log points said between them, and which ranks were resumed without a request.
 * A script tells each exactly once, so what it needs to tell is copied here:
 * the rank may run on, or end, before it is told. The last STOPS_KEPT are kept.
 */
#ifndef MODEL_STOPS_H
#define MODEL_STOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/debugger.h"

struct rank;

#define STOPS_KEPT 1024

struct stop {
	int rank;
	pid_t tid;
	enum stop_reason reason;
	enum stop_event at;
	char *value;	   /* NULL: not known */
	char *description; /* never NULL */
	char *said;	   /* by a log point, number hits[0]: it did not stop, only
			    * rank and this are known; NULL: it is a stop */
	int hits[STOP_HITS_MAXIMUM];
	size_t hit_count;
	/* Not RESUME_REQUEST: it is no stop but a resume; only rank and
	 * description, a sentence, are known. */
	enum resume_reason resumed_for;
	double held; /* seconds, when it was told of */
	/* Its innermost frame; func NULL: not known. */
	char *func;
	char *qualname;
	char *file;
	int line;
	bool is_user;
};

struct stops {
	struct stop *ring; /* of STOPS_KEPT; NULL: there was none */
	uint64_t count;	   /* ever written */
};

void stops_clear(struct stops *stops);
/* The rank's debugger has just stopped it. */
void stops_add(struct stops *stops, const struct rank *rank);
/* The rank's debugger has just resumed it, for resumed_for. */
void stops_add_resume(struct stops *stops, const struct rank *rank);
/* A log point of the rank, by its id, said so. */
void stops_add_said(struct stops *stops, int rank, int id, const char *text);
/* Lends number n (from 0 on) of all; NULL: it is not kept any more, or is to
 * come. */
const struct stop *stops_find(const struct stops *stops, uint64_t n);

#endif

/*
 * flight-recorder-dump: reads a file that holds a dump of torch's Flight Recorder: the collectives
 * that one rank called last.
 *
 * torch's watchdog writes such a file when a collective of NCCL times out (TORCH_FR_DUMP_TEMP_FILE,
 * before torch 2.9 TORCH_NCCL_DEBUG_INFO_TEMP_FILE, and the rank: "/tmp/nccl_trace_rank_3"); a
 * program gets the same bytes from torch._C._distributed_c10d._dump_fr_trace() and
 * _dump_nccl_trace(). Both give a pickle; _dump_fr_trace_json() and _dump_nccl_trace_json() give
 * JSON, without stacks.
 */
#ifndef ENGINE_FLIGHT_RECORDER_DUMP_H
#define ENGINE_FLIGHT_RECORDER_DUMP_H

#include <stddef.h>

#include "protocol/collectives.h"

struct error;
struct session;

struct flight_recorder_dump {
	/*
	 * Groups without a call among the entries are there only for NCCL. Ranks of a group are
	 * known only for NCCL. Unfinished calls, torch's version, and for dumps in JSON the stacks
	 * are unknown.
	 */
	struct collectives collectives;
	int rank; /* rank of the process, the number at the end of the file's name; -1: none */
};

#define FLIGHT_RECORDER_DUMP_INIT { .rank = -1 }

/*
 * Replaces *dump by the dump in the regular file at path, which may have a suffix behind the rank
 * ("rank_3.json"). Returns 0; -1 and *error, and the dump is then empty.
 */
int flight_recorder_dump_read(struct flight_recorder_dump *dump, const char *path,
			      struct error *error);
/* flight_recorder_dump_read() for the bytes of a file; dump->rank is kept. */
int flight_recorder_dump_parse(struct flight_recorder_dump *dump, const void *bytes, size_t length,
			       struct error *error);
/*
 * Adds the dump at path to the session as a rank of which nothing else is known. Its number is that
 * at the end of the file's name. Returns 0; -1 and *error.
 */
int flight_recorder_dump_add(struct session *session, const char *path, struct error *error);
/* Frees the members; the dump is then empty and usable. */
void flight_recorder_dump_clear(struct flight_recorder_dump *dump);

#endif

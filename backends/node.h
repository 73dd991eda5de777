/*
 * node: the program that runs on each machine. It finds ranks, opens
 * connections to them, routes requests and emits events. Its standard input
 * and output are the pipe to the screen; when that ends it leaves everything
 * as it found it.
 */
#ifndef BACKENDS_NODE_H
#define BACKENDS_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/message.h"

struct http_client;
struct connections;
struct error;
struct debugger;
struct loaded_elf_cache;
struct evidence;
struct pdb_finder;
struct linger_list;
struct freezer;
struct injections;
struct launch;
struct loop;
struct native;
struct node;
struct outputs;
struct timeout_extension;
struct process_sample;
struct procfs;
struct process_table;
struct sampler;
struct stack_table;
struct launched_programs;
struct tensor_asks;
struct waits;

/* The number of a request whose answer is dropped. */
#define NODE_NOBODY (-INT64_MAX)

struct node *node_new(struct loop *loop, int input, int output);
void node_free(struct node *node);
/* Serves until the input ends or SIGTERM. Returns the exit status. */
int node_run(struct node *node);

/* For backends: */
struct stack_table *node_stacks(struct node *node);
struct freezer *node_holds(struct node *node);
struct waits *node_waits(struct node *node);
struct native *node_native(struct node *node);
struct loaded_elf_cache *node_elf_cache(struct node *node);
struct http_client *node_http_client(struct node *node);
struct loop *node_loop(struct node *node);
bool node_is_read_only(const struct node *node);
/* Bodies that have "pid" get "rank" from the process table, if they have none. */
void node_emit(struct node *node, enum event_kind event, json_t *owned_body);
/* A sentence for the log. */
void node_say(struct node *node, const char *sentence);
void node_respond(struct node *node, const struct message *request, json_t *owned_body,
		  const char *error);
/* Emits `sampled`, amended, with what the other side does not know yet. */
void node_emit_sample(struct node *node, struct process_sample *sample);

/*
 * Emits `debugger`, `stopped` or `continued`, as the state has it; before
 * `stopped` the process is sampled (and the sample amended).
 */
void node_emit_debugger(struct node *node, pid_t pid, const struct debugger *debugger);
/* The same as `debugger`, whatever the state is: it is where it was. */
void node_tell_debugger(struct node *node, pid_t pid, const struct debugger *debugger);
/* Takes the socket of a connection that closes. */
struct linger_list *node_linger_list(struct node *node);

/* For the parts of the node: */
struct connections *node_connections(struct node *node);
struct procfs *node_procfs(struct node *node);
struct process_table *node_process_table(struct node *node);
struct sampler *node_sampler(struct node *node);
struct tensor_asks *node_tensor_asks(struct node *node);
struct evidence *node_evidence(struct node *node);
struct pdb_finder *node_finder(struct node *node);
struct injections *node_injections(struct node *node);
struct launch *node_launch(struct node *node);
/* The programs of a started job, followed from their first instruction. */
struct launched_programs *node_starts(struct node *node);
struct outputs *node_outputs(struct node *node);
struct timeout_extension *node_timeout_extension(struct node *node);
struct stop_limit *node_stop_limit(struct node *node);
struct stop_gate *node_stop_gate(struct node *node);
/* Writes what was emitted; called at the end of each callback of the loop. */
void node_flush(struct node *node);
/* Bytes that the other side has not taken yet. */
size_t node_waiting(struct node *node);
/* Stacks in a table before it begins anew; 0 or less: as many as usual. */
void node_set_stacks_maximum(struct node *node, int64_t maximum);
/*
 * Begins a new table of stacks when the one there is full, and tells so. What
 * reads processes is closed for it: call it when nothing waits for that.
 */
void node_tidy_stacks(struct node *node);
void node_set_read_only(struct node *node, bool is_read_only);
/* Whether a process that is stopped from outside stays so when it is sent a
 * signal. */
bool node_stops_on_signal(const struct node *node);
void node_set_stop_on_signal(struct node *node, bool is_on);
/* Passes out the descriptor of the job's standard input, for the first caller;
 * -1: the job's terminal is its standard input. */
int node_take_job_input(struct node *node);
void node_set_job_input(struct node *node, int owned_fd);
/* Files that may be open in a program started by us; 0: as many as in us. */
uint64_t node_file_limit(const struct node *node);
void node_set_file_limit(struct node *node, uint64_t limit);
/* Writes what waits, then ends the loop. */
void node_leave(struct node *node);

#endif

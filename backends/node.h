/*
 * node: the program that runs on each machine. It finds ranks, opens
 * connections to them, routes requests and emits events. Its standard input
 * and output are the pipe to probetui; when the input ends, the node detaches
 * from all processes and exits.
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
struct lease;
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

/* `seq` of a request that the node itself makes and whose answer is dropped. */
#define NODE_NOBODY (-INT64_MAX)

struct node *node_new(struct loop *loop, int input, int output);
void node_free(struct node *node);
/* Serves until the input ends or SIGTERM arrives. Returns the exit status. */
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
/* Emits the event. A body with "pid" but without "rank" gets "rank" from the process table. */
void node_emit(struct node *node, enum event_kind event, json_t *owned_body);
/* Sends a sentence for the log of the user interface. */
void node_say(struct node *node, const char *sentence);
/* Answers the request. error NULL: success, with owned_body (NULL: an empty body); else error is a
 * sentence. */
void node_respond(struct node *node, const struct message *request, json_t *owned_body,
		  const char *error);
/* Called once with the answer of a request that the node itself made; error NULL: success. */
typedef void node_answered(void *data, const char *error);
/*
 * Prepares a request that the node itself makes: sets request->seq to a number below zero, so that
 * node_respond() calls answered(data, error) and sends nothing on the pipe.
 */
void node_expect(struct node *node, struct message *request, node_answered *answered, void *data);
/* Undoes node_expect() for a request that no backend has started. */
void node_unexpect(struct node *node, const struct message *request);
/* Emits `sampled`, after debuggers have replaced the stacks of the threads that they have stopped.
 * Of the sample's stacks, the event contains those that were not sent before. */
void node_emit_sample(struct node *node, struct process_sample *sample);

/*
 * Emits `debugger`, `stopped` or `continued`, depending on the debugger's state. Before `stopped`,
 * a sample of the process is emitted.
 */
void node_emit_debugger(struct node *node, pid_t pid, const struct debugger *debugger);
/* Emits `debugger` whatever the debugger's state is; for changes other than stops and resumes. */
void node_tell_debugger(struct node *node, pid_t pid, const struct debugger *debugger);
/* Returns the list that closes the sockets of closed connections without blocking. */
struct linger_list *node_linger_list(struct node *node);

/* For the modules of the node: */
struct connections *node_connections(struct node *node);
struct procfs *node_procfs(struct node *node);
struct process_table *node_process_table(struct node *node);
struct sampler *node_sampler(struct node *node);
struct tensor_asks *node_tensor_asks(struct node *node);
struct evidence *node_evidence(struct node *node);
struct pdb_finder *node_finder(struct node *node);
struct injections *node_injections(struct node *node);
struct launch *node_launch(struct node *node);
/* Returns the object that traces the programs of a launched job from their first instruction. */
struct launched_programs *node_starts(struct node *node);
struct outputs *node_outputs(struct node *node);
struct timeout_extension *node_timeout_extension(struct node *node);
struct stop_limit *node_stop_limit(struct node *node);
struct stop_gate *node_stop_gate(struct node *node);
struct lease *node_lease(struct node *node);
/* Writes the queued messages. Each callback of the loop calls node_flush() at its end. */
void node_flush(struct node *node);
/* Returns the number of queued bytes that the pipe has not taken yet. */
size_t node_waiting(struct node *node);
/* Sets the number of stacks at which the table of stacks is full; 0 or less: the default. */
void node_set_stacks_maximum(struct node *node, int64_t maximum);
/*
 * If the table of stacks is full, replaces it by an empty table and emits `stacksDropped`. All
 * readers are then closed, so no reader may have an unanswered request at the call.
 */
void node_tidy_stacks(struct node *node);
void node_set_read_only(struct node *node, bool is_read_only);
/* Whether a ptrace-stopped process stays stopped when another process sends it a
 * signal; otherwise it is resumed to handle the signal. */
bool node_stops_on_signal(const struct node *node);
void node_set_stop_on_signal(struct node *node, bool is_on);
/* Returns the descriptor for the job's standard input and passes its ownership to the caller; later
 * calls return -1. -1: the job's standard input is the job's terminal. */
int node_take_job_input(struct node *node);
void node_set_job_input(struct node *node, int owned_fd);
/* RLIMIT_NOFILE (soft) of the programs that the node starts; 0: the node's own limit. */
uint64_t node_file_limit(const struct node *node);
void node_set_file_limit(struct node *node, uint64_t limit);
/* Detaches from all processes, writes the queued output for 0.4 s at most, ends the loop. */
void node_leave(struct node *node);

#endif

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

struct backend;
struct connection;
struct error;
struct loop;
struct message;
struct node;
struct stack_table;

struct node *node_new(struct loop *loop, int input, int output);
void node_free(struct node *node);
/* Serves until the input ends or SIGTERM. Returns the exit status. */
int node_run(struct node *node);

/* For backends: */
struct stack_table *node_stacks(struct node *node);
struct loop *node_loop(struct node *node);
bool node_is_read_only(const struct node *node);
void node_emit(struct node *node, const char *event, json_t *owned_body);
void node_respond(struct node *node, const struct message *request,
		  json_t *owned_body, const char *error);

#endif

/*
 * transport: how nodes are started on other machines, and their lines carried.
 *
 * A transport is a program that the site already trusts: it starts probetui-node on a machine, as
 * the user, and passes its standard input and output on. Nothing
 * listens, and only that program authenticates the user.
 */
#ifndef ENGINE_TRANSPORT_H
#define ENGINE_TRANSPORT_H

#include <stddef.h>

struct error;

/* Maximum number of machines of a session. */
#define MACHINES_MAXIMUM 4096

struct machine {
	char *name;
	char *client; /* the program, for sentences: "ssh" */
	char **argv;  /* starts the node; ends with NULL */
};

/* Words of the site that are added to the client's; NULL: none. */
struct transport_flags {
	const char *ssh;
	const char *srun;
};

struct machines {
	struct machine *items;
	size_t count;
	size_t capacity;
};

#define MACHINES_INIT { .items = NULL }

/*
 * Adds the machines of a target, as --on takes it:
 *	ssh:HOSTS		ssh(1) to each: "gpu[01-04],login"
 *	slurm:JOB		srun(1) on each machine of the job; "slurm" alone: of the job in
 *				whose allocation this program runs
 *	hostfile:FILE		ssh to the first word of each line
 *	exec:HOSTS:COMMAND	the shell command for each, with %h in place of the host; the
 *				words that start the node are added at its end
 * Returns 0; -1 and *error.
 */
int machines_add(struct machines *machines, const char *target, const struct transport_flags *flags,
		 struct error *error);
/* Checks a target like machines_add(), but reads no file and runs no program. */
int transport_check(const char *target, struct error *error);
void machines_clear(struct machines *machines);

#endif

/*
 * environment: the rank of a process by its process group, or by the variables that launchers set.
 *
 * Each family of launchers has its own variables. If a process has the numbers of several families
 * (torchrun under srun), the first of them in enum rank_family counts. The first two families have
 * no variables: their numbers are objects in the memory of the program, which cannot be inherited
 * from a shell or a launcher. So they count more than any variable.
 */
#ifndef BACKENDS_DISCOVER_ENVIRONMENT_H
#define BACKENDS_DISCOVER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rank_family {
	FAMILY_GROUP,	/* default process group of torch.distributed */
	FAMILY_JAX,	/* jax.distributed.initialize(): process_id, num_processes */
	FAMILY_TORCH,	/* RANK, LOCAL_RANK, WORLD_SIZE, GROUP_RANK or NODE_RANK */
	FAMILY_HOROVOD, /* HOROVOD_RANK, HOROVOD_LOCAL_RANK, HOROVOD_SIZE */
	FAMILY_OMPI,	/* OMPI_COMM_WORLD_… */
	FAMILY_PMI,	/* PMI_RANK, PMI_SIZE (MPICH, Intel MPI) */
	FAMILY_PMIX,	/* PMIX_RANK */
	FAMILY_SLURM,	/* SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID */
	FAMILY_NONE,
};

enum rank_number {
	NUMBER_RANK,
	NUMBER_LOCAL,
	NUMBER_SIZE,
	NUMBER_GROUP, /* number of the machine */
	NUMBER_COUNT,
};

#define ENVIRONMENT_TEXT 256

struct environment {
	int numbers[FAMILY_NONE][NUMBER_COUNT]; /* -1: unknown */
	char address[ENVIRONMENT_TEXT];		/* MASTER_ADDR; "": unknown */
	char port[ENVIRONMENT_TEXT];		/* MASTER_PORT */
	char slurm_job[ENVIRONMENT_TEXT];	/* SLURM_JOB_ID; "": no job of Slurm */
	char slurm_nodes[ENVIRONMENT_TEXT];	/* SLURM_JOB_NODELIST: "n[1-4]" */
	bool is_own; /* the program itself has set its rank: /proc/PID/environ has none */
};

/*
 * Reads from the memory of a running program what the program knows of its rank: its process
 * group, and os.environ, which has variables that /proc/PID/environ lacks. start_time as in
 * proc_pid_stat(5).
 */
struct environment_reader {
	/* Whether the program has loaded a library that jobs of several ranks use. */
	bool (*has_framework)(void *data, pid_t pid, uint64_t start_time);
	/* Updates *environment, which has the variables of /proc/PID/environ. */
	void (*read)(void *data, pid_t pid, uint64_t start_time, struct environment *environment);
	void *data;
};

void environment_init(struct environment *environment);
/* Parses NUL-terminated "NAME=value" strings, as in /proc/PID/environ. */
void environment_parse(struct environment *environment, const char *bytes, size_t length);
/* Takes one variable into account; variables that no launcher sets are ignored. */
void environment_set(struct environment *environment, const char *name, const char *value);
/* Returns true if the variable is one that launchers set. */
bool environment_is_known(const char *name);
/* Sets the numbers of a family without variables. Ignored unless 0 <= rank < size, and size is
 * possible. */
void environment_set_group(struct environment *environment, enum rank_family family, int64_t rank,
			   int64_t size);

/* Removes the numbers of MPI and Slurm: of the machine's daemon, where a daemon starts the ranks.
 */
void environment_forget_machine(struct environment *environment);

/* Returns the first family that has a rank; FAMILY_NONE: no rank. */
enum rank_family environment_family(const struct environment *environment);
/* Returns a number of the process's rank; -1: unknown. */
int environment_number(const struct environment *environment, enum rank_number number);
/* Returns true if the program itself knows its rank: by a process group, or in jax. */
bool environment_has_group(const struct environment *environment);
/*
 * Returns true if the processes may be one rank and its child or wrapper. Process groups are
 * compared if both have one; else the variables are: the same family, rank and local rank, or none.
 */
bool environment_is_same_rank(const struct environment *a, const struct environment *b);
/* Returns true if both are known to be in one job: the same address and number of ranks. */
bool environment_is_same_job(const struct environment *a, const struct environment *b);
/* Writes "ADDRESS:PORT"; "": unknown. */
void environment_job(const struct environment *environment, char *out, size_t size);

#endif

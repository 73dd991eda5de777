/*
 * environment: the rank of a process by the variables that launchers set.
 *
 * Each family of launchers has its own variables. If a process has the variables of several
 * families (torchrun under srun), the first of them in enum rank_family counts.
 */
#ifndef BACKENDS_DISCOVER_ENVIRONMENT_H
#define BACKENDS_DISCOVER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rank_family {
	FAMILY_TORCH, /* RANK, LOCAL_RANK, WORLD_SIZE, GROUP_RANK */
	FAMILY_OMPI,  /* OMPI_COMM_WORLD_… */
	FAMILY_PMI,   /* PMI_RANK, PMI_SIZE (MPICH, Intel MPI) */
	FAMILY_PMIX,  /* PMIX_RANK */
	FAMILY_SLURM, /* SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID */
	FAMILY_NONE,
};

enum rank_number {
	NUMBER_RANK,
	NUMBER_LOCAL,
	NUMBER_SIZE,
	NUMBER_GROUP,
	NUMBER_COUNT,
};

#define ENVIRONMENT_TEXT 256

struct environment {
	int numbers[FAMILY_NONE][NUMBER_COUNT]; /* -1: unknown */
	char address[ENVIRONMENT_TEXT];		/* MASTER_ADDR; "": unknown */
	char port[ENVIRONMENT_TEXT];		/* MASTER_PORT */
};

/*
 * Reads the variables that a running program has set since its execve(2), which
 * /proc/PID/environ does not have; start_time as in proc_pid_stat(5).
 */
struct environment_reader {
	void (*read)(void *data, pid_t pid, uint64_t start_time, struct environment *environment);
	void *data;
};

void environment_init(struct environment *environment);
/* Parses NUL-terminated "NAME=value" strings, as in /proc/PID/environ. */
void environment_parse(struct environment *environment, const char *bytes, size_t length);
/* Takes one variable into account; variables that no launcher sets are ignored. */
void environment_set(struct environment *environment, const char *name, const char *value);
/* The names that environment_set() knows: RANK first, NULL at the end. */
#define ENVIRONMENT_NAMES 16
void environment_names(const char *names[ENVIRONMENT_NAMES]);

/* Returns the first family whose rank variable is set; FAMILY_NONE: no rank. */
enum rank_family environment_family(const struct environment *environment);
/* Returns a number of the process's rank; -1: unknown. */
int environment_number(const struct environment *environment, enum rank_number number);
/* Returns true if both have the same family, rank and local rank, or both have no rank. */
bool environment_is_same_rank(const struct environment *a, const struct environment *b);
/* Writes "ADDRESS:PORT"; "": unknown. */
void environment_job(const struct environment *environment, char *out, size_t size);

#endif

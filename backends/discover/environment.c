#include "backends/discover/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "protocol/rankset.h"

enum kind {
	KIND_NUMBER,
	KIND_ADDRESS,
	KIND_PORT,
	KIND_SLURM_JOB,
	KIND_SLURM_NODES,
};

struct row {
	const char *name;
	enum kind kind;
	enum rank_family family;
	enum rank_number number;
};

/* clang-format off */
static const struct row rows[] = {
	{ "RANK", KIND_NUMBER, FAMILY_TORCH, NUMBER_RANK },
	{ "LOCAL_RANK", KIND_NUMBER, FAMILY_TORCH, NUMBER_LOCAL },
	{ "WORLD_SIZE", KIND_NUMBER, FAMILY_TORCH, NUMBER_SIZE },
	{ "GROUP_RANK", KIND_NUMBER, FAMILY_TORCH, NUMBER_GROUP },
	{ "NODE_RANK", KIND_NUMBER, FAMILY_TORCH, NUMBER_GROUP },
	{ "HOROVOD_RANK", KIND_NUMBER, FAMILY_HOROVOD, NUMBER_RANK },
	{ "HOROVOD_LOCAL_RANK", KIND_NUMBER, FAMILY_HOROVOD, NUMBER_LOCAL },
	{ "HOROVOD_SIZE", KIND_NUMBER, FAMILY_HOROVOD, NUMBER_SIZE },
	{ "OMPI_COMM_WORLD_RANK", KIND_NUMBER, FAMILY_OMPI, NUMBER_RANK },
	{ "OMPI_COMM_WORLD_LOCAL_RANK", KIND_NUMBER, FAMILY_OMPI, NUMBER_LOCAL },
	{ "OMPI_COMM_WORLD_SIZE", KIND_NUMBER, FAMILY_OMPI, NUMBER_SIZE },
	{ "PMI_RANK", KIND_NUMBER, FAMILY_PMI, NUMBER_RANK },
	{ "PMI_SIZE", KIND_NUMBER, FAMILY_PMI, NUMBER_SIZE },
	{ "PMIX_RANK", KIND_NUMBER, FAMILY_PMIX, NUMBER_RANK },
	{ "SLURM_PROCID", KIND_NUMBER, FAMILY_SLURM, NUMBER_RANK },
	{ "SLURM_LOCALID", KIND_NUMBER, FAMILY_SLURM, NUMBER_LOCAL },
	{ "SLURM_NTASKS", KIND_NUMBER, FAMILY_SLURM, NUMBER_SIZE },
	{ "MASTER_ADDR", KIND_ADDRESS, FAMILY_NONE, NUMBER_COUNT },
	{ "MASTER_PORT", KIND_PORT, FAMILY_NONE, NUMBER_COUNT },
	{ "SLURM_JOB_ID", KIND_SLURM_JOB, FAMILY_NONE, NUMBER_COUNT },
	{ "SLURM_JOB_NODELIST", KIND_SLURM_NODES, FAMILY_NONE, NUMBER_COUNT },
};
/* clang-format on */

void environment_init(struct environment *environment)
{
	*environment = (struct environment){ .address = "" };
	for (int i = 0; i < FAMILY_NONE; i++)
		for (int j = 0; j < NUMBER_COUNT; j++)
			environment->numbers[i][j] = -1;
}

/* Parses a rank or a number of ranks. Returns -1 for any other text. */
static int environment_parse_number(const char *value)
{
	char *end;
	long number;

	if (value[0] < '0' || value[0] > '9')
		return -1;
	errno = 0;
	number = strtol(value, &end, 10);
	if (errno || *end || number > RANKSET_MAXIMUM + 1)
		return -1;
	return (int)number;
}

static void store(struct environment *environment, const struct row *row, const char *value)
{
	switch (row->kind) {
	case KIND_NUMBER:
		environment->numbers[row->family][row->number] = environment_parse_number(value);
		break;
	case KIND_ADDRESS:
		snprintf(environment->address, sizeof(environment->address), "%s", value);
		break;
	case KIND_PORT:
		snprintf(environment->port, sizeof(environment->port), "%s", value);
		break;
	case KIND_SLURM_JOB:
		snprintf(environment->slurm_job, sizeof(environment->slurm_job), "%s", value);
		break;
	case KIND_SLURM_NODES:
		snprintf(environment->slurm_nodes, sizeof(environment->slurm_nodes), "%s", value);
		break;
	}
}

void environment_set(struct environment *environment, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			store(environment, &rows[i], value);
}

/*
 * Returns the row of the variable, or NULL. The first letter is compared first, which excludes most
 * variables.
 */
static const struct row *environment_find_row(const char *text, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (rows[i].name[0] == text[0] && strlen(rows[i].name) == length &&
		    memcmp(rows[i].name, text, length) == 0)
			return &rows[i];
	return NULL;
}

void environment_parse(struct environment *environment, const char *bytes, size_t length)
{
	const char *end = bytes + length;

	while (bytes < end) {
		size_t size = strnlen(bytes, (size_t)(end - bytes));
		const char *equals = memchr(bytes, '=', size);
		const struct row *row = NULL;

		/* A last variable without a NUL is incomplete, and is ignored. */
		if (equals && bytes + size < end)
			row = environment_find_row(bytes, (size_t)(equals - bytes));
		if (row)
			store(environment, row, equals + 1);
		bytes += size + 1;
	}
}

bool environment_is_known(const char *name)
{
	return environment_find_row(name, strlen(name)) != NULL;
}

void environment_set_group(struct environment *environment, enum rank_family family, int64_t rank,
			   int64_t size)
{
	if (rank < 0 || rank >= size || size > RANKSET_MAXIMUM + 1)
		return;
	environment->numbers[family][NUMBER_RANK] = (int)rank;
	environment->numbers[family][NUMBER_SIZE] = (int)size;
}

void environment_forget_machine(struct environment *environment)
{
	for (int i = FAMILY_OMPI; i <= FAMILY_SLURM; i++)
		environment->numbers[i][NUMBER_RANK] = -1;
}

/*
 * Returns the rank of a family. Lightning's own launcher sets no RANK. On the first machine of the
 * job a rank is its local rank there; the numbers of ranks on the other machines are not known.
 */
static int rank_of(const struct environment *environment, int family)
{
	const int *numbers = environment->numbers[family];

	if (family == FAMILY_TORCH && numbers[NUMBER_RANK] < 0 && numbers[NUMBER_GROUP] == 0 &&
	    numbers[NUMBER_LOCAL] < numbers[NUMBER_SIZE])
		return numbers[NUMBER_LOCAL];
	return numbers[NUMBER_RANK];
}

static enum rank_family find_family(const struct environment *environment, enum rank_family first)
{
	int family = (int)first;

	while (family < FAMILY_NONE && rank_of(environment, family) < 0)
		family++;
	return (enum rank_family)family;
}

enum rank_family environment_family(const struct environment *environment)
{
	return find_family(environment, FAMILY_GROUP);
}

bool environment_has_group(const struct environment *environment)
{
	return environment_family(environment) < FAMILY_TORCH;
}

int environment_number(const struct environment *environment, enum rank_number number)
{
	enum rank_family family = environment_family(environment);
	int rank;

	if (family == FAMILY_NONE)
		return -1;
	rank = rank_of(environment, (int)family);
	if (number == NUMBER_RANK)
		return rank;
	/*
	 * Under srun with PMIx only Slurm's variables contain the size, and a process group has no
	 * local rank: other families are searched, too, unless they have another rank.
	 */
	for (int i = (int)family; i < FAMILY_NONE; i++) {
		int other = rank_of(environment, i);

		if (environment->numbers[i][number] >= 0 &&
		    (other == rank || (other < 0 && family < FAMILY_TORCH)))
			return environment->numbers[i][number];
	}
	return -1;
}

static bool is_same_group(const struct environment *a, const struct environment *b)
{
	return environment_family(a) == environment_family(b) &&
	       environment_number(a, NUMBER_RANK) == environment_number(b, NUMBER_RANK) &&
	       environment_number(a, NUMBER_SIZE) == environment_number(b, NUMBER_SIZE);
}

bool environment_is_same_rank(const struct environment *a, const struct environment *b)
{
	enum rank_family family = find_family(a, FAMILY_TORCH);

	if (environment_has_group(a) && environment_has_group(b))
		return is_same_group(a, b);
	if (family != find_family(b, FAMILY_TORCH))
		return false;
	if (family == FAMILY_NONE)
		return !environment_has_group(a) && !environment_has_group(b);
	/* torchrun itself may have a RANK (of its node), but no LOCAL_RANK. */
	return rank_of(a, (int)family) == rank_of(b, (int)family) &&
	       a->numbers[family][NUMBER_LOCAL] == b->numbers[family][NUMBER_LOCAL];
}

bool environment_is_same_job(const struct environment *a, const struct environment *b)
{
	return a->address[0] && a->port[0] && strcmp(a->address, b->address) == 0 &&
	       strcmp(a->port, b->port) == 0 &&
	       environment_number(a, NUMBER_SIZE) == environment_number(b, NUMBER_SIZE);
}

void environment_job(const struct environment *environment, char *out, size_t size)
{
	out[0] = '\0';
	if (environment->address[0] && environment->port[0])
		snprintf(out, size, "%s:%s", environment->address, environment->port);
}

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
};
/* clang-format on */

void environment_init(struct environment *environment)
{
	*environment = (struct environment){ .address = "", .port = "" };
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

_Static_assert(ARRAY_LENGTH(rows) + 1 == ENVIRONMENT_NAMES,
	       "ENVIRONMENT_NAMES counts the rows and the NULL");

void environment_names(const char *names[ENVIRONMENT_NAMES])
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		names[i] = rows[i].name;
	names[ARRAY_LENGTH(rows)] = NULL;
}

enum rank_family environment_family(const struct environment *environment)
{
	int family = FAMILY_TORCH;

	while (family < FAMILY_NONE && environment->numbers[family][NUMBER_RANK] < 0)
		family++;
	return (enum rank_family)family;
}

int environment_number(const struct environment *environment, enum rank_number number)
{
	enum rank_family family = environment_family(environment);
	int rank;

	if (family == FAMILY_NONE)
		return -1;
	rank = environment->numbers[family][NUMBER_RANK];
	/*
	 * Under srun with PMIx only Slurm's variables contain the size, so other families with the
	 * same rank are searched, too.
	 */
	for (int i = (int)family; i < FAMILY_NONE; i++)
		if (environment->numbers[i][NUMBER_RANK] == rank &&
		    environment->numbers[i][number] >= 0)
			return environment->numbers[i][number];
	return -1;
}

bool environment_is_same_rank(const struct environment *a, const struct environment *b)
{
	enum rank_family family = environment_family(a);

	if (family != environment_family(b))
		return false;
	if (family == FAMILY_NONE)
		return true;
	/* torchrun itself may have a RANK (of its node), but no LOCAL_RANK. */
	return a->numbers[family][NUMBER_RANK] == b->numbers[family][NUMBER_RANK] &&
	       a->numbers[family][NUMBER_LOCAL] == b->numbers[family][NUMBER_LOCAL];
}

void environment_job(const struct environment *environment, char *out, size_t size)
{
	out[0] = '\0';
	if (environment->address[0] && environment->port[0])
		snprintf(out, size, "%s:%s", environment->address, environment->port);
}

/*
 * Chooses a kernel by /proc/cpuinfo. Linux lists only processor features that programs may use:
 * features whose registers Linux saves for each thread.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/tensor/kernel.h"
#include "banned.h"
#include "base/array.h"

#define LINE_MAXIMUM 8192

static const struct choice {
	const struct kernel *kernel;
	const char *flags[5];
} choices[] = {
#ifdef KERNEL_HAS_AVX512
	{ &kernel_avx512, { " avx512f", " avx512bw", " avx512dq", " avx512vl", " fma" } },
#endif
#ifdef KERNEL_HAS_AVX2
	{ &kernel_avx2, { " avx2", " fma" } },
#endif
	{ &kernel_plain, { NULL } },
};

/* True if the flag is a whole word of the line: " fma" is not found in " fma4". */
static bool has_flag(const char *line, const char *flag)
{
	size_t length = strlen(flag);
	const char *found = strstr(line, flag);

	while (found && !strchr(" \n", found[length]))
		found = strstr(found + 1, flag);
	return found != NULL;
}

static bool has_all(const char *line, const struct choice *choice)
{
	for (size_t i = 0; i < ARRAY_LENGTH(choice->flags); i++)
		if (choice->flags[i] && !has_flag(line, choice->flags[i]))
			return false;
	return true;
}

/* Reads the first "flags" line of /proc/cpuinfo; "": there is none. */
static void read_flags(char *line, int size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");

	line[0] = '\0';
	if (!file)
		return;
	do {
		if (!fgets(line, size, file))
			line[0] = '\0';
	} while (line[0] && strncmp(line, "flags", strlen("flags")) != 0);
	fclose(file);
}

const struct kernel *kernel_at(size_t index)
{
	char line[LINE_MAXIMUM];

	read_flags(line, sizeof(line));
	for (size_t i = 0; i < ARRAY_LENGTH(choices); i++)
		if (has_all(line, &choices[i]) && index-- == 0)
			return choices[i].kernel;
	return NULL;
}

const struct kernel *kernel_best(void)
{
	return kernel_at(0);
}

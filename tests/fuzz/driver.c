/*
 * driver: runs a fuzz target on files, where it was not built for libFuzzer:
 * FILE-OR-FOLDER... Prints TAP, a line for each argument.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "tests/fuzz/fuzz.h"

static bool run_file(const char *path)
{
	struct buffer bytes = BUFFER_INIT;
	FILE *file = fopen(path, "rb");
	char part[4096];
	size_t count;

	if (!file)
		return false;
	while ((count = fread(part, 1, sizeof(part), file)) > 0)
		buffer_append(&bytes, part, count);
	fclose(file);
	LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, bytes.length);
	buffer_clear(&bytes);
	return true;
}

/* How many files of the folder were run. */
static int run_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	while (folder && (entry = readdir(folder))) {
		char *name = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.' && run_file(name))
			count++;
		free(name);
	}
	if (folder)
		closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	int failures = 0;

	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		int count = run_folder(argv[i]);
		bool is_run = count > 0 || run_file(argv[i]);

		failures += !is_run;
		printf("%sok %d - %s: %d inputs\n", is_run ? "" : "not ", i,
		       name ? name + 1 : argv[i], count > 0 ? count : is_run);
	}
	printf("1..%d\n", argc - 1);
	return failures > 0;
}

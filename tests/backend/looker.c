#include "tests/backend/looker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/linux/memory.h"
#include "banned.h"
#include "base/error.h"

int looker_open(struct looker *looker, int argc, char **argv)
{
	struct error error = ERROR_INIT;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PID\n", argv[0]);
		return -1;
	}
	looker->memory = memory_new((pid_t)strtol(argv[1], NULL, 10));
	if (cpython_locate(&looker->python, looker->memory, NULL, &error) == 0)
		return 0;
	fprintf(stderr, "%s\n", error.message);
	memory_free(looker->memory);
	return -1;
}

void looker_serve(json_t *(*answer)(void *data, char *line), void *data)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		json_t *json;

		line[strcspn(line, "\n")] = '\0';
		json = answer(data, line);
		json_dumpf(json, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		puts("");
		fflush(stdout);
		json_decref(json);
	}
	free(line);
}

void looker_close(struct looker *looker)
{
	memory_free(looker->memory);
}

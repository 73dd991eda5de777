/*
 * dump-probe KIND FILE...: what the readers of files make of each, as JSON, one a line; or
 * {"error": "…"}.
 *
 *	pickle	any pickle of plain data
 *	dump	a dump of the Flight Recorder: {"rank": 3, "collectives": {…}}
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/pickle.h"
#include "engine/flight-recorder-dump.h"

static void print_json(json_t *owned_json)
{
	struct buffer line = BUFFER_INIT;

	json_append(&line, owned_json);
	puts(line.data);
	buffer_clear(&line);
	json_decref(owned_json);
}

static json_t *read_pickle(const char *path, struct error *error)
{
	struct buffer bytes = BUFFER_INIT;
	json_t *value = NULL;

	if (file_read(path, "the pickle", &bytes, error) == 0)
		value = pickle_parse(bytes.data, bytes.length, error);
	buffer_clear(&bytes);
	return value;
}

static json_t *read_dump(const char *path, struct error *error)
{
	struct flight_recorder_dump dump = FLIGHT_RECORDER_DUMP_INIT;
	json_t *json;

	if (flight_recorder_dump_read(&dump, path, error) < 0)
		return NULL;
	json = json_object();
	json_object_set_new(json, "rank", json_integer(dump.rank));
	json_object_set_new(json, "collectives", collectives_to_json(&dump.collectives, SIZE_MAX));
	flight_recorder_dump_clear(&dump);
	return json;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++) {
		struct error error = ERROR_INIT;
		json_t *json = strcmp(argv[1], "pickle") == 0 ? read_pickle(argv[i], &error)
							      : read_dump(argv[i], &error);

		if (!json) {
			json = json_object();
			json_set_text(json, "error", error.message);
		}
		print_json(json);
	}
	return 0;
}

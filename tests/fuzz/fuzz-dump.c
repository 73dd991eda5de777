/*
 * A dump of the Flight Recorder, as a pickle or as JSON; the collectives that are read from it obey
 * the limits of the protocol.
 */
#include <stdlib.h>

#include "banned.h"

#include "engine/flight-recorder-dump.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flight_recorder_dump dump = { .rank = 1 };
	struct collectives collectives = COLLECTIVES_INIT;
	json_t *json;

	if (flight_recorder_dump_parse(&dump, data, size, NULL) == 0) {
		json = collectives_to_json(&dump.collectives, SIZE_MAX);
		if (collectives_from_json(&collectives, json, NULL) < 0)
			abort();
		json_decref(json);
	}
	collectives_clear(&collectives);
	flight_recorder_dump_clear(&dump);
	return 0;
}

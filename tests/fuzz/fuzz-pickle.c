/* A pickle; a value that is read from it can be written out. */
#include "banned.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/pickle.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *value = pickle_parse(data, size, NULL);
	struct buffer text = BUFFER_INIT;

	if (!value)
		return 0;
	json_append(&text, value);
	buffer_clear(&text);
	json_decref(value);
	return 0;
}

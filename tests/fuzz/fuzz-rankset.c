/* Sets of ranks, and that what is written can be read again. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/rankset.h"
#include "tests/fuzz/fuzz.h"

static void check_folded(const struct rankset *set)
{
	struct buffer text = BUFFER_INIT;
	struct rankset again = RANKSET_INIT;
	struct error error = ERROR_INIT;

	rankset_append(&text, set);
	if (set->range_count > 0 &&
	    (rankset_parse(&again, text.data, NULL, &error) < 0 ||
	     !rankset_is_equal(set, &again)))
		abort();
	rankset_clear(&again);
	buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct rankset all = RANKSET_INIT;
	struct rankset set = RANKSET_INIT;
	struct error error = ERROR_INIT;

	rankset_add_range(&all, 0, 1023);
	if (rankset_parse(&set, text, &all, &error) == 0)
		check_folded(&set);
	rankset_clear(&set);
	rankset_clear(&all);
	free(text);
	return 0;
}

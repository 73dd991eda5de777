/* What a program has printed: its tracebacks lie in the text, and are printed escaped. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/secret.h"
#include "base/text.h"
#include "model/traceback.h"
#include "tests/fuzz/fuzz.h"

#define COLUMNS 80

static void check(const struct traceback_list *list, size_t at, size_t length)
{
	const struct traceback *item = &list->items[at];
	struct buffer out = BUFFER_INIT;

	traceback_append(&out, item, COLUMNS);
	if (item->start > item->end || item->end > length || !item->type || !item->message ||
	    item->group >= (int)at || (item->relation != TRACEBACK_ALONE && at == 0) ||
	    !text_is_plain(out.data, out.length))
		abort();
	buffer_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct traceback_list list = { .items = NULL };
	struct buffer masked = BUFFER_INIT;

	secret_mask_traceback(&masked, text);
	traceback_read(&list, text);
	for (size_t i = 0; i < list.count; i++)
		check(&list, i, strlen(text));
	traceback_list_clear(&list);
	buffer_clear(&masked);
	free(text);
	return 0;
}

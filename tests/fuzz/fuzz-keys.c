/* Lines of `bind` and other command lines, and a line editor's keys. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "tests/fuzz/fuzz.h"
#include "ui/keymap.h"

static void take_line(struct keymap *keymap, const char *line)
{
	struct error error = ERROR_INIT;
	struct arguments arguments;

	if (arguments_split(&arguments, line, &error) == 0 && arguments.count > 0)
		keymap_bind_words(keymap, &arguments, &error);
	arguments_clear(&arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct buffer help = BUFFER_INIT;
	struct keymap keymap;
	char *line = text;

	keymap_init(&keymap);
	keymap_add_default(&keymap);
	while (line) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		take_line(&keymap, line);
		line = end;
	}
	keymap_describe(&keymap, &help);
	keymap_clear(&keymap);
	buffer_clear(&help);
	free(text);
	return 0;
}

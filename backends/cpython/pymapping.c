#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

int64_t pydict_count(struct pyreader *reader, uint64_t address)
{
	struct pytable table;

	return pytable_of_dict(reader, address, &table) ? -1 : table.used;
}

static bool pymapping_add_item(uint64_t key, uint64_t value, void *data)
{
	struct pypage *page = data;
	struct buffer name = BUFFER_INIT;

	pypage_put_key(page, "[]", key, &name);
	pypage_add(page, &name, value);
	return true;
}

int pydict_items(struct pypage *page, uint64_t address)
{
	return pydict_each(page->reader, address, page->start, page->count, pymapping_add_item,
			   page) < 0
		       ? -1
		       : 0;
}

struct writing {
	struct pywriter *writer;
	int64_t number;
};

static bool pymapping_write_item(uint64_t key, uint64_t value, void *data)
{
	struct writing *writing = data;

	if (!pywriter_next(writing->writer, writing->number++))
		return false;
	pywriter_object(writing->writer, key);
	pywriter_text(writing->writer, ": ");
	pywriter_object(writing->writer, value);
	return true;
}

void pydict_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "{", "}", "{...}", "{}" };
	struct writing writing = { writer, 0 };
	struct pytable table;

	if (pytable_of_dict(writer->reader, address, &table)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, table.used, &brackets))
		return;
	if (pytable_each(writer->reader, &table, 0, SIZE_MAX, pymapping_write_item, &writing) < 0)
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_close(writer, &brackets);
}

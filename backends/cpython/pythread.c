#include "backends/cpython/pythread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "banned.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256
#define THREADS_MAXIMUM 10000

struct walk {
	struct pyreader *reader;
	void (*each)(uint64_t ident, const char *name, void *data);
	void *data;
	int count;
};

/* Thread._name exists in every version from 3.8 to 3.14. */
static bool pythread_visit(uint64_t key, uint64_t value, void *data)
{
	struct walk *walk = data;
	struct buffer text = BUFFER_INIT;
	uint64_t name;
	int64_t ident;

	if (!pyobject_integer(walk->reader, key, &ident) &&
	    !pyobject_attribute(walk->reader, value, "_name", &name) &&
	    !pyobject_string(walk->reader, name, NAME_MAXIMUM, &text)) {
		walk->each((uint64_t)ident, text.data, walk->data);
		walk->count++;
	}
	buffer_clear(&text);
	return true;
}

int pythread_names(struct pyreader *reader, uint64_t interpreter,
		   void (*each)(uint64_t ident, const char *name, void *data), void *data)
{
	struct walk walk = { reader, each, data, 0 };
	uint64_t active;

	if (pymodule_find(reader, interpreter, "threading", "_active", &active) ||
	    pydict_each(reader, active, 0, THREADS_MAXIMUM, pythread_visit, &walk) < 0)
		return -1;
	return walk.count;
}

#include "backends/cpython/pyreader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/memory.h"

#define BUDGET ((size_t)8 << 20)
#define PAGE 4096u

void pyreader_init(struct pyreader *reader, struct memory *memory, const struct cpython *python)
{
	*reader = (struct pyreader){
		.memory = memory,
		.python = python,
		.budget = BUDGET,
	};
}

int pyreader_read(struct pyreader *reader, uint64_t address, void *out, size_t length)
{
	if (length > reader->budget) {
		reader->budget = 0;
		return -1;
	}
	/* The first page and the upper half of the address space hold no data of a program. */
	if (address < PAGE || address > INT64_MAX - length)
		return -1;
	reader->budget -= length;
	if (memory_read(reader->memory, address, out, length) == 0)
		return 0;
	reader->has_failed = true;
	return -1;
}

int pyreader_pointer(struct pyreader *reader, uint64_t address, uint64_t *out)
{
	return pyreader_read(reader, address, out, sizeof(*out));
}

int pyreader_size(struct pyreader *reader, uint64_t object, int64_t *size)
{
	return pyreader_read(reader, object + PYREADER_HEAD, size, sizeof(*size));
}

int pyreader_c_string(struct pyreader *reader, uint64_t address, char *out, size_t size)
{
	size_t length = 0;

	while (length + 1 < size) {
		size_t left = PAGE - (address + length) % PAGE;

		if (left > size - 1 - length)
			left = size - 1 - length;
		if (pyreader_read(reader, address + length, out + length, left))
			return -1;
		if (memchr(out + length, '\0', left))
			return 0;
		length += left;
	}
	out[size - 1] = '\0';
	return 0;
}

#include "backends/tensor/shuffle.h"

#include <stdbool.h>
#include <string.h>

#include "banned.h"

#define DIMENSIONS 65

/*
 * Each unit size has a function with the size as a constant, so that each memcpy() becomes one
 * instruction.
 */
static void pick1(const uint8_t *from, int64_t count, int64_t stride, uint8_t *out)
{
	for (int64_t i = 0; i < count; i++)
		out[i] = from[i * stride];
}

static void pick2(const uint8_t *from, int64_t count, int64_t stride, uint8_t *out)
{
	for (int64_t i = 0; i < count; i++)
		memcpy(out + i * 2, from + i * stride, 2);
}

static void pick4(const uint8_t *from, int64_t count, int64_t stride, uint8_t *out)
{
	for (int64_t i = 0; i < count; i++)
		memcpy(out + i * 4, from + i * stride, 4);
}

static void pick8(const uint8_t *from, int64_t count, int64_t stride, uint8_t *out)
{
	for (int64_t i = 0; i < count; i++)
		memcpy(out + i * 8, from + i * stride, 8);
}

static void pick16(const uint8_t *from, int64_t count, int64_t stride, uint8_t *out)
{
	for (int64_t i = 0; i < count; i++)
		memcpy(out + i * 16, from + i * stride, 16);
}

static void pick(const uint8_t *from, int64_t count, int64_t stride, int unit_size, uint8_t *out)
{
	if (stride == unit_size)
		memcpy(out, from, (size_t)(count * unit_size));
	else if (unit_size == 1)
		pick1(from, count, stride, out);
	else if (unit_size == 2)
		pick2(from, count, stride, out);
	else if (unit_size == 4)
		pick4(from, count, stride, out);
	else if (unit_size == 8)
		pick8(from, count, stride, out);
	else
		pick16(from, count, stride, out);
}

/* Advances to the next index of all dimensions but the last; false: the index was the last one. */
static bool shuffle_go_on(int64_t *index, int count, const int64_t *shape, const int64_t *strides,
			  const uint8_t **from)
{
	for (int i = count - 1; i >= 0; i--) {
		*from += strides[i];
		if (++index[i] < shape[i])
			return true;
		*from -= strides[i] * index[i];
		index[i] = 0;
	}
	return false;
}

void shuffle_gather(const uint8_t *first, int dimension_count, const int64_t *shape,
		    const int64_t *strides, int unit_size, uint8_t *out)
{
	int64_t index[DIMENSIONS] = { 0 };
	int last = dimension_count - 1;
	int64_t count = last >= 0 ? shape[last] : 1;
	int64_t stride = last >= 0 ? strides[last] : unit_size;

	do {
		pick(first, count, stride, unit_size, out);
		out += count * unit_size;
	} while (shuffle_go_on(index, last, shape, strides, &first));
}

static void shuffle_turn(uint8_t *bytes, int size)
{
	for (int i = 0; i < size / 2; i++) {
		uint8_t byte = bytes[i];

		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

void shuffle_swap(uint8_t *bytes, size_t count, int unit_size)
{
	for (size_t i = 0; i < count; i++)
		shuffle_turn(bytes + i * (size_t)unit_size, unit_size);
}

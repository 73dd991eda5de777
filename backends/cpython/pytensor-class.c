/*
 * pytensor-class: the Python classes of torch's tensors, and the placements in a DTensor's
 * attributes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor-offsets.h"
#include "backends/cpython/pytensor-torch.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define BASES_MAXIMUM 32
#define PLACEMENTS_MAXIMUM 8
#define TEXT_MAXIMUM 64

/* Traits of classes; a class has the traits of all its bases, too. */
static const struct {
	const char *module; /* prefix of the full name */
	const char *name;   /* suffix of the full name */
	unsigned traits;
} known[] = {
	{ "torch.nn.", ".Parameter", TORCH_PARAMETER },
	{ "torch.distributed.", ".DTensor", TORCH_DISTRIBUTED },
	{ "torch._subclasses.", ".FakeTensor", TORCH_FAKE },
	{ "torch.nested.", ".NestedTensor", TORCH_JAGGED },
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static unsigned traits_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
		if (strncmp(name, known[i].module, strlen(known[i].module)) == 0 &&
		    ends_with(name, known[i].name))
			return known[i].traits;
	return 0;
}

static unsigned read_traits(struct pyreader *reader, const struct pytype *type, const char *name)
{
	unsigned traits = traits_of_name(name);
	int64_t count = pytuple_count(reader, type->mro);

	for (int64_t i = 1; i < count && i < BASES_MAXIMUM; i++) {
		struct buffer text = BUFFER_INIT;
		struct pytype base;
		uint64_t address;

		if (!pytuple_item(reader, type->mro, i, &address) &&
		    !pytype_read(reader, address, &base) && !pytype_name(reader, &base, &text))
			traits |= traits_of_name(text.data);
		buffer_clear(&text);
	}
	return strcmp(name, "torch.Tensor") == 0 ? traits : traits | TORCH_OTHER;
}

static int load_type(struct pyreader *reader, const struct pytype *type, size_t at)
{
	struct pytensor_cache *cache = &reader->tensors;
	struct buffer name = BUFFER_INIT;
	int result = pytype_name(reader, type, &name);

	if (!result) {
		cache->types[at].address = type->address;
		cache->types[at].traits = read_traits(reader, type, name.data);
		snprintf(cache->types[at].name, sizeof(cache->types[at].name), "%s", name.data);
	}
	buffer_clear(&name);
	return result;
}

unsigned torch_traits(struct pyreader *reader, uint64_t object, char *text, size_t size)
{
	struct pytensor_cache *cache = &reader->tensors;
	struct pytype type;
	size_t at;

	if (size)
		*text = '\0';
	if (pytype_of(reader, object, &type))
		return 0;
	for (at = 0; at < ARRAY_LENGTH(cache->types); at++)
		if (cache->types[at].address == type.address)
			break;
	if (at == ARRAY_LENGTH(cache->types)) {
		at = cache->next;
		if (load_type(reader, &type, at))
			return TORCH_OTHER;
		cache->next = (cache->next + 1) % ARRAY_LENGTH(cache->types);
	}
	if (size)
		snprintf(text, size, "%s", cache->types[at].name);
	return cache->types[at].traits;
}

bool torch_is_parameter(struct pyreader *reader, uint64_t object, unsigned traits)
{
	uint64_t value;
	int64_t number;

	if (traits & TORCH_PARAMETER)
		return true;
	return traits & TORCH_OTHER && !pyobject_attribute(reader, object, "_is_param", &value) &&
	       !pyobject_integer(reader, value, &number) && number == 1;
}

/*
 * For a placement whose class is written in C++ (pybind11): the pointer to the C++ object follows
 * the head.
 */
static int read_bound_dimension(struct pyreader *reader, uint64_t placement, int64_t *dimension)
{
	const char *class;
	uint64_t object;

	if (pyreader_pointer(reader, placement + PYREADER_HEAD, &object))
		return -1;
	class = pycxx_class(reader, object);
	if (!class || !strstr(class, "Shard"))
		return -1;
	return pyreader_read(reader, object + 8, dimension, sizeof(*dimension));
}

/* Appends "Shard(0)", "Partial(sum)", "Replicate". */
static int put_placement(struct pyreader *reader, uint64_t placement, struct buffer *out)
{
	struct buffer name = BUFFER_INIT;
	int result = pyobject_type_name(reader, placement, &name);
	const char *last = result ? NULL : strrchr(name.data, '.');
	int64_t dimension = 0;
	uint64_t value;

	if (!result) {
		last = last ? last + 1 : name.data;
		buffer_append_string(out, last + strspn(last, "_"));
		if ((!pyobject_attribute(reader, placement, "dim", &value) &&
		     !pyobject_integer(reader, value, &dimension)) ||
		    !read_bound_dimension(reader, placement, &dimension)) {
			buffer_printf(out, "(%" PRId64 ")", dimension);
		} else if (!pyobject_attribute(reader, placement, "reduce_op", &value)) {
			buffer_append_char(out, '(');
			result = pyobject_string(reader, value, TEXT_MAXIMUM, out);
			buffer_append_char(out, ')');
		}
	}
	buffer_clear(&name);
	return result;
}

/* Appends the rank's coordinate along the given dimension of the mesh. */
static int put_coordinate(struct pyreader *reader, uint64_t spec, int64_t dimension,
			  struct buffer *out)
{
	uint64_t mesh, coordinates, item;
	int64_t coordinate;

	if (pyobject_attribute(reader, spec, "mesh", &mesh) ||
	    pyobject_attribute(reader, mesh, "_coordinate_on_dim", &coordinates) ||
	    (pytuple_item(reader, coordinates, dimension, &item) &&
	     pylist_item(reader, coordinates, dimension, &item)) ||
	    pyobject_integer(reader, item, &coordinate))
		return -1;
	buffer_printf(out, "%s%" PRId64, out->length ? ", " : "", coordinate);
	return 0;
}

static bool is_replicated(const char *placement)
{
	return strncmp(placement, "Replicate", strlen("Replicate")) == 0;
}

/*
 * Appends the placements to out, and the coordinates of the local shard to shard; if the
 * coordinates are unknown, shard is empty.
 */
static int put_placements(struct pyreader *reader, uint64_t object, struct buffer *out,
			  struct buffer *shard)
{
	uint64_t spec, placements, item;
	bool is_known = true;
	int64_t count;

	if (pyobject_attribute(reader, object, "_spec", &spec) ||
	    pyobject_attribute(reader, spec, "placements", &placements))
		return -1;
	count = pytuple_count(reader, placements);
	if (count < 0 || count > PLACEMENTS_MAXIMUM)
		return -1;
	for (int64_t i = 0; i < count; i++) {
		size_t start;

		if (i)
			buffer_append_string(out, ", ");
		start = out->length;
		if (pytuple_item(reader, placements, i, &item) || put_placement(reader, item, out))
			return -1;
		if (!is_replicated(out->data + start) && put_coordinate(reader, spec, i, shard))
			is_known = false;
	}
	if (!is_known)
		buffer_reset(shard);
	return 0;
}

void torch_read_placement(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct buffer text = BUFFER_INIT;
	struct buffer shard = BUFFER_INIT;

	if (put_placements(reader, object, &text, &shard)) {
		buffer_reset(&text);
		buffer_reset(&shard);
		buffer_append_char(&text, '?');
	}
	buffer_append_string(&text, " of [");
	for (int i = 0; i < tensor->dimension_count; i++)
		buffer_printf(&text, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
	buffer_append_char(&text, ']');
	snprintf(tensor->placement, sizeof(tensor->placement), "%s", text.data);
	if (shard.length > 0 && shard.length < sizeof(tensor->shard))
		memcpy(tensor->shard, shard.data, shard.length + 1);
	buffer_clear(&shard);
	buffer_clear(&text);
}

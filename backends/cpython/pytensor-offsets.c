#include "backends/cpython/pytensor-offsets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define VERSION_MAXIMUM 64
/* Maximum searches of a reader: a search reads much, and the object may be no tensor. */
#define SEARCHES_MAXIMUM 16
/* Bytes of an AutogradMeta that are searched. */
#define AUTOGRAD_BYTES 64

static const struct torch_layout layouts[] = {
#include "backends/cpython/pytensor-torch.inc"
};


int torch_version_parse(const char *text)
{
	char *end;
	long major = strtol(text, &end, 10);
	long minor;

	if (end == text || *end != '.' || major < 0 || major > 999)
		return -1;
	text = end + 1;
	minor = strtol(text, &end, 10);
	if (end == text || minor < 0 || minor > 999)
		return -1;
	return (int)(major * 1000 + minor);
}

static int read_version(struct pyreader *reader)
{
	const struct cpython *python = reader->python;
	struct buffer text = BUFFER_INIT;
	uint64_t interpreter, value;
	int version = -1;

	if (python->offsets.rt_interp_main < 0 ||
	    pyreader_pointer(reader, python->runtime + (uint64_t)python->offsets.rt_interp_main,
			     &interpreter) ||
	    pymodule_find(reader, interpreter, "torch.version", "__version__", &value))
		return -1;
	if (!pyobject_string(reader, value, VERSION_MAXIMUM, &text))
		version = torch_version_parse(text.data);
	buffer_clear(&text);
	return version;
}

static int pytensor_offsets_find_version(struct pyreader *reader)
{
	struct pytensor_cache *cache = &reader->tensors;

	if (cache->is_blind)
		return -1;
	if (!cache->version)
		cache->version = read_version(reader);
	return cache->version;
}

static bool pytensor_offsets_is_of(const struct torch_layout *layout, int version)
{
	return version >= layout->first && version <= layout->last;
}

static bool pytensor_offsets_is_known(int version)
{
	for (size_t i = 0; i < ARRAY_LENGTH(layouts); i++)
		if (pytensor_offsets_is_of(&layouts[i], version))
			return true;
	return false;
}

static bool pytensor_offsets_is_class(struct pyreader *reader, uint64_t object, const char *part)
{
	const char *name = pycxx_class(reader, object);

	return name && strstr(name, part);
}

static bool is_impl(struct pyreader *reader, uint64_t object)
{
	return pytensor_offsets_is_class(reader, object, "TensorImpl") ||
	       pytensor_offsets_is_class(reader, object, "TensorWrapper");
}

static bool is_autograd(struct pyreader *reader, uint64_t object)
{
	return pytensor_offsets_is_class(reader, object, "12AutogradMetaE") ||
	       pytensor_offsets_is_class(reader, object, "22DifferentiableViewMetaE");
}

/*
 * True if the pointer to the gradient is at place. This pointer is never NULL: a missing gradient
 * is an UndefinedTensorImpl.
 */
static bool has_gradient(struct pyreader *reader, uint64_t meta, int place)
{
	uint64_t gradient;

	return !pyreader_pointer(reader, meta + (uint64_t)place, &gradient) &&
	       is_impl(reader, gradient);
}

static int load_impl(struct pyreader *reader, struct torch_object *tensor, int place)
{
	uint64_t address;

	if (pyreader_pointer(reader, tensor->object + (uint64_t)place, &address) || address % 8)
		return -1;
	if (tensor->impl == address)
		return 0;
	tensor->impl = 0;
	if (pyreader_read(reader, address, tensor->bytes, sizeof(tensor->bytes)))
		return -1;
	tensor->impl = address;
	return 0;
}

static bool points_back(const struct torch_object *tensor, int place)
{
	return (pyreader_word(tensor->bytes, place) & ~UINT64_C(1)) == tensor->object;
}

static bool pytensor_offsets_fits(struct pyreader *reader, struct torch_object *tensor,
				  const struct torch_layout *layout)
{
	uint64_t storage, meta;

	if (load_impl(reader, tensor, layout->impl) || !points_back(tensor, layout->back) ||
	    !is_impl(reader, tensor->impl))
		return false;
	storage = pyreader_word(tensor->bytes, layout->storage);
	meta = pyreader_word(tensor->bytes, layout->autograd);
	if (storage && !pytensor_offsets_is_class(reader, storage, "StorageImpl"))
		return false;
	if (meta && (!is_autograd(reader, meta) || !has_gradient(reader, meta, layout->grad)))
		return false;
	tensor->layout = layout;
	return true;
}

/* Tries the known layouts of this version (0: of all versions), newest first. */
static bool try_table(struct pyreader *reader, struct torch_object *tensor, int version)
{
	for (size_t i = ARRAY_LENGTH(layouts); i-- > 0;) {
		if (version > 0 && !pytensor_offsets_is_of(&layouts[i], version))
			continue;
		if (pytensor_offsets_fits(reader, tensor, &layouts[i]))
			return true;
	}
	return false;
}

/*
 * Sets the other members by distances that never changed between versions: a StorageImpl begins
 * like a TensorImpl, with reference counts, then data and size; the members behind sizes have fixed
 * distances.
 */
static void derive(struct torch_layout *layout)
{
	layout->autograd = layout->storage + 8;
	layout->data = layout->storage;
	layout->bytes = layout->storage + 32;
	layout->users = 8;
	layout->extra = layout->storage + 16;
	layout->symbolic = 0;
	layout->offset = layout->sizes + 88;
	layout->count = layout->sizes + 96;
	layout->dtype = layout->sizes + 104;
	layout->device = layout->sizes + 106;
	layout->keys = layout->sizes + 112;
	layout->conjugate = layouts[ARRAY_LENGTH(layouts) - 1].conjugate;
	layout->negative = layouts[ARRAY_LENGTH(layouts) - 1].negative;
	layout->zero = layouts[ARRAY_LENGTH(layouts) - 1].zero;
}

/*
 * Finds the pointers to the storage and back to the Python object; fails for a tensor without a
 * storage.
 */
static bool search_impl(struct pyreader *reader, struct torch_object *tensor,
			struct torch_layout *layout)
{
	for (int place = 8; place <= 48; place += 8) {
		uint64_t word = pyreader_word(tensor->bytes, place);

		if (!pytensor_offsets_is_class(reader, word, "11StorageImplE"))
			continue;
		layout->storage = place;
		break;
	}
	for (int place = layout->storage + 8; layout->storage && place <= 80; place += 8) {
		if (!points_back(tensor, place))
			continue;
		layout->back = place;
		layout->sizes = place + 8;
		return true;
	}
	return false;
}

static bool search_autograd(struct pyreader *reader, const struct torch_object *tensor,
			    struct torch_layout *layout)
{
	uint64_t meta = pyreader_word(tensor->bytes, layout->autograd);

	layout->grad = 40;
	for (int place = 8; meta && place < AUTOGRAD_BYTES; place += 8) {
		if (!is_autograd(reader, meta))
			return false;
		if (has_gradient(reader, meta, place)) {
			layout->grad = place;
			break;
		}
	}
	layout->grad_fn = layout->grad + 8;
	return true;
}

static bool pytensor_offsets_search(struct pyreader *reader, struct torch_object *tensor)
{
	struct pytensor_cache *cache = &reader->tensors;

	if (cache->searches++ >= SEARCHES_MAXIMUM)
		return false;
	for (int place = 16; place <= 32; place += 8) {
		struct torch_layout layout = { .impl = place };

		if (load_impl(reader, tensor, place) || !is_impl(reader, tensor->impl) ||
		    !search_impl(reader, tensor, &layout))
			continue;
		derive(&layout);
		if (!search_autograd(reader, tensor, &layout))
			continue;
		cache->found = layout;
		return pytensor_offsets_fits(reader, tensor, &cache->found);
	}
	return false;
}

int torch_object_open(struct pyreader *reader, uint64_t object, struct torch_object *tensor)
{
	struct pytensor_cache *cache = &reader->tensors;
	int version = pytensor_offsets_find_version(reader);

	tensor->object = object;
	tensor->impl = 0;
	tensor->is_sure = !cache->is_blind && pytensor_offsets_is_known(version);
	if (cache->layout && pytensor_offsets_fits(reader, tensor, cache->layout)) {
		tensor->is_sure &= pytensor_offsets_is_of(cache->layout, version);
		return 0;
	}
	if (tensor->is_sure) {
		tensor->is_sure = try_table(reader, tensor, version);
		if (!tensor->is_sure && !pytensor_offsets_search(reader, tensor))
			return -1;
	} else if ((cache->is_blind || !try_table(reader, tensor, 0)) &&
		   !pytensor_offsets_search(reader, tensor)) {
		return -1;
	}
	cache->layout = tensor->layout;
	return 0;
}

/*
 * The two words before a virtual table: offset to the object's start, type_info. A type_info has a
 * table pointer, then the name (Itanium C++ ABI).
 */
#define TOP 16u
#define NAME 8u

static int pycxx_read_name(struct pyreader *reader, uint64_t table, char *name)
{
	uint64_t before[2]; /* offset to the object's start; type_info */
	uint64_t text;

	if (table % 8 || pyreader_read(reader, table - TOP, before, sizeof(before)) ||
	    before[0] != 0 || before[1] % 8 || pyreader_pointer(reader, before[1] + NAME, &text) ||
	    pyreader_c_string(reader, text, name, PYCXX_NAME) || !*name)
		return -1;
	for (const char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			return -1;
	return 0;
}

const char *pycxx_class(struct pyreader *reader, uint64_t object)
{
	struct pycxx_cache *cache = &reader->classes;
	uint64_t table;
	char name[PYCXX_NAME];

	if (!object || object % 8 || pyreader_pointer(reader, object, &table) || !table)
		return NULL;
	for (size_t i = 0; i < PYCXX_CACHE; i++)
		if (cache->items[i].table == table)
			return cache->items[i].name;
	if (pycxx_read_name(reader, table, name))
		return NULL;
	size_t at = cache->next;
	cache->next = (at + 1) % PYCXX_CACHE;
	cache->items[at].table = table;
	memcpy(cache->items[at].name, name, sizeof(name));
	return cache->items[at].name;
}

static bool pycxx_is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

/* mangled: "N5torch8autograd9generated12MulBackward0E", "9Something". */
int pycxx_last(const char *mangled, char *out, size_t size)
{
	const char *at = mangled;
	const char *found = NULL;
	size_t length = 0;

	if (*at == '*')
		at++;
	if (*at == 'N')
		at++;
	while (pycxx_is_digit(*at)) {
		size_t count = 0;

		for (; pycxx_is_digit(*at) && count < PYCXX_NAME; at++)
			count = count * 10 + (size_t)(*at - '0');
		if (!count || count > strlen(at))
			return -1;
		found = at;
		length = count;
		at += count;
	}
	if (!found || length >= size || (*at && *at != 'E' && *at != 'I'))
		return -1;
	snprintf(out, size, "%.*s", (int)length, found);
	return 0;
}

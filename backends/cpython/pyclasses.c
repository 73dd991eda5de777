#include "backends/cpython/pyclasses.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define BASES_MAXIMUM 32
#define NAME_MAXIMUM 256
#define PATH_MAXIMUM 4096
#define PARTS_MAXIMUM 64

/* Writes the class's name as in repr(): without module and outer classes. */
static void pyclasses_write_class(struct pywriter *writer, const struct pytype *type)
{
	struct buffer name = BUFFER_INIT;
	const char *dot;

	if (pytype_name(writer->reader, type, &name)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
	} else {
		dot = strrchr(name.data, '.');
		pywriter_text(writer, dot ? dot + 1 : name.data);
	}
	buffer_clear(&name);
}

static void pyclasses_write_string(struct pywriter *writer, uint64_t string)
{
	if (pyobject_string(writer->reader, string, NAME_MAXIMUM, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
}

/* Finds an attribute in the class and its bases; 0: found, -1: not found. */
static int find_in_class(struct pyreader *reader, const struct pytype *type, const char *name,
			 uint64_t *value)
{
	int64_t count = pytuple_count(reader, type->mro);

	for (int64_t i = 0; i < count && i < BASES_MAXIMUM; i++) {
		struct pytype base;
		uint64_t address;

		if (pytuple_item(reader, type->mro, i, &address) ||
		    pytype_read(reader, address, &base))
			return -1;
		if (!pytype_attribute(reader, &base, name, value))
			return 0;
	}
	return -1;
}

int pyenum_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	uint64_t name, value;

	if (pyobject_attribute(writer->reader, object, "_value_", &value))
		return -1;
	pyclasses_write_class(writer, type);
	/* A combination of Flag members may have no name. */
	if (pyobject_attribute(writer->reader, object, "_name_", &name) ||
	    !pytype_has(writer->reader, name, PYTYPE_STRING)) {
		pywriter_text(writer, "(");
		pywriter_object(writer, value);
		pywriter_text(writer, ")");
		return 0;
	}
	pywriter_text(writer, ".");
	pyclasses_write_string(writer, name);
	pywriter_text(writer, " = ");
	pywriter_object(writer, value);
	return 0;
}

/* Finds the tuple _fields; -1: missing, or of another length than the object. */
static int read_fields(struct pyreader *reader, uint64_t object, const struct pytype *type,
		       uint64_t *fields)
{
	if (find_in_class(reader, type, "_fields", fields) || pytuple_count(reader, *fields) < 0 ||
	    pytuple_count(reader, *fields) != pytuple_count(reader, object))
		return -1;
	return 0;
}

int pynamedtuple_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	static const struct pybrackets brackets = { "(", ")", "(...)", "()" };
	struct pyreader *reader = writer->reader;
	uint64_t fields, item;
	int64_t count;

	if (read_fields(reader, object, type, &fields))
		return -1;
	count = pytuple_count(reader, object);
	pyclasses_write_class(writer, type);
	if (!pywriter_open(writer, object, count, &brackets))
		return 0;
	for (int64_t i = 0; i < count && pywriter_next(writer, i); i++) {
		if (pytuple_item(reader, fields, i, &item))
			item = 0;
		pyclasses_write_string(writer, item);
		pywriter_text(writer, "=");
		if (pytuple_item(reader, object, i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, &brackets);
	return 0;
}

int pynamedtuple_items(struct pypage *page, uint64_t object, const struct pytype *type)
{
	uint64_t fields, item;
	int64_t end;

	if (read_fields(page->reader, object, type, &fields))
		return pytuple_items(page, object);
	end = pytuple_count(page->reader, object);
	if (page->start < end && end - page->start > (int64_t)page->count)
		end = page->start + (int64_t)page->count;
	for (int64_t i = page->start; i < end; i++) {
		struct buffer name = BUFFER_INIT;

		if (pytuple_item(page->reader, fields, i, &item) ||
		    pyobject_string(page->reader, item, NAME_MAXIMUM, &name))
			buffer_printf(&name, "[%" PRId64 "]", i);
		if (pytuple_item(page->reader, object, i, &item))
			item = 0;
		pypage_add(page, &name, item);
	}
	return 0;
}

struct dataclass {
	struct pywriter *writer;
	uint64_t object;
	int64_t number;
};

static bool pyclasses_is_shown(struct pyreader *reader, uint64_t field)
{
	int64_t is_shown;
	uint64_t value;

	return pyobject_attribute(reader, field, "repr", &value) ||
	       pyobject_integer(reader, value, &is_shown) || is_shown;
}

/*
 * Writes a field of a dataclass. Class variables are also in __dataclass_fields__, but are no
 * attributes of the object: they are left out.
 */
static bool write_field(uint64_t key, uint64_t field, void *data)
{
	struct dataclass *dataclass = data;
	struct pywriter *writer = dataclass->writer;
	struct buffer name = BUFFER_INIT;
	bool goes_on = true;
	uint64_t value;

	if (!pyobject_string(writer->reader, key, NAME_MAXIMUM, &name) &&
	    pyclasses_is_shown(writer->reader, field) &&
	    !pyobject_attribute(writer->reader, dataclass->object, name.data, &value)) {
		goes_on = pywriter_next(writer, dataclass->number++);
		if (goes_on) {
			pywriter_text(writer, name.data);
			pywriter_text(writer, "=");
			pywriter_object(writer, value);
		}
	}
	buffer_clear(&name);
	return goes_on;
}

int pydataclass_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	static const struct pybrackets brackets = { "(", ")", "(...)", "()" };
	struct dataclass dataclass = { .writer = writer, .object = object };
	uint64_t fields;
	int64_t count;

	if (find_in_class(writer->reader, type, "__dataclass_fields__", &fields))
		return -1;
	count = pydict_count(writer->reader, fields);
	if (count < 0)
		return -1;
	pyclasses_write_class(writer, type);
	if (!pywriter_open(writer, object, count, &brackets))
		return 0;
	pydict_each(writer->reader, fields, 0, SIZE_MAX, write_field, &dataclass);
	pywriter_close(writer, &brackets);
	return 0;
}

int pyfraction_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	uint64_t numerator, denominator;

	if (pyobject_attribute(writer->reader, object, "_numerator", &numerator) ||
	    pyobject_attribute(writer->reader, object, "_denominator", &denominator))
		return -1;
	pyclasses_write_class(writer, type);
	pywriter_text(writer, "(");
	pywriter_object(writer, numerator);
	pywriter_text(writer, ", ");
	pywriter_object(writer, denominator);
	pywriter_text(writer, ")");
	return 0;
}

/*
 * Joins the arguments of PurePath(); -1: the path needs rules of pathlib that are not implemented
 * here.
 */
static int join_parts(struct pyreader *reader, uint64_t parts, struct buffer *out)
{
	int64_t count = pylist_count(reader, parts);

	if (count < 1 || count > PARTS_MAXIMUM)
		return -1;
	for (int64_t i = 0; i < count; i++) {
		size_t before = out->length;
		uint64_t part;

		if (i && out->data[out->length - 1] != '/')
			buffer_append_char(out, '/');
		if (pylist_item(reader, parts, i, &part) ||
		    pyobject_string(reader, part, PATH_MAXIMUM, out))
			return -1;
		/* The part is empty, or absolute and replaces the parts before. */
		if (out->length == before || (i && out->data[before] == '/'))
			return -1;
	}
	if (strstr(out->data, "//") || strstr(out->data, "./") || strstr(out->data, "/.") ||
	    strchr(out->data, '\''))
		return -1;
	if (out->length > 1 && out->data[out->length - 1] == '/')
		buffer_truncate(out, out->length - 1);
	return 0;
}

/*
 * PurePath creates _str when the program first needs the path's text. Before that only the parts
 * exist: _parts up to 3.11 (beginning with the root), _raw_paths from 3.12 on.
 */
int pypath_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	struct pyreader *reader = writer->reader;
	struct buffer text = BUFFER_INIT;
	uint64_t parts;
	uint64_t string;
	int result = -1;

	if (!pyobject_attribute(reader, object, "_str", &string)) {
		pyclasses_write_class(writer, type);
		pywriter_text(writer, "(");
		pywriter_object(writer, string);
		pywriter_text(writer, ")");
		return 0;
	}
	if (!pyobject_attribute(reader, object, "_parts", &parts) ||
	    !pyobject_attribute(reader, object, "_raw_paths", &parts))
		result = join_parts(reader, parts, &text);
	if (result == 0) {
		pyclasses_write_class(writer, type);
		buffer_printf(writer->out, "('%s')", text.data);
	}
	buffer_clear(&text);
	return result;
}

int pycounter_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	pyclasses_write_class(writer, type);
	pywriter_text(writer, "(");
	if (pydict_count(writer->reader, object) != 0)
		pydict_write(writer, object);
	pywriter_text(writer, ")");
	return 0;
}

int pymodule_write(struct pywriter *writer, uint64_t object, const struct pytype *type)
{
	static const struct {
		const char *attribute, *one, *many;
	} counts[] = {
		{ "_parameters", "parameter", "parameters" },
		{ "_modules", "module", "modules" },
	};
	struct pyreader *reader = writer->reader;
	const char *between = " (";
	int64_t number[ARRAY_LENGTH(counts)];
	uint64_t dict;

	for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
		if (pyobject_attribute(reader, object, counts[i].attribute, &dict))
			return -1;
		number[i] = pydict_count(reader, dict);
		if (number[i] < 0)
			return -1;
	}
	pyclasses_write_class(writer, type);
	for (size_t i = 0; i < ARRAY_LENGTH(counts); i++) {
		if (!number[i])
			continue;
		buffer_printf(writer->out, "%s%" PRId64 " %s", between, number[i],
			      number[i] == 1 ? counts[i].one : counts[i].many);
		between = ", ";
	}
	pywriter_text(writer, between[0] == ' ' ? "" : ")");
	return 0;
}

#define CLASS_NAME_MAXIMUM 64

/* clang-format off */
static const struct pyclass_lookup looks[] = {
	{ "enum", "Enum", NULL, 0, pyenum_write, NULL },
	{ NULL, NULL, "_fields", PYTYPE_TUPLE, pynamedtuple_write,
	  pynamedtuple_items },
	{ NULL, NULL, "__dataclass_fields__", 0, pydataclass_write, NULL },
	{ "fractions", "Fraction", NULL, 0, pyfraction_write, NULL },
	{ "pathlib", "PurePath", NULL, 0, pypath_write, NULL },
	{ "collections", "Counter", NULL, PYTYPE_DICT, pycounter_write, NULL },
	{ "torch.nn.modules.module", "Module", NULL, 0, pymodule_write, NULL },
};
/* clang-format on */

static bool pyclass_lookup_is_module(struct pyreader *reader, const struct pytype *type,
				     const char *wanted)
{
	struct buffer text = BUFFER_INIT;
	size_t length = strlen(wanted);
	bool is_it = false;
	uint64_t module;

	if (!pytype_attribute(reader, type, "__module__", &module) &&
	    !pyobject_string(reader, module, CLASS_NAME_MAXIMUM, &text))
		is_it = !strncmp(text.data, wanted, length) &&
			(!text.data[length] || text.data[length] == '.');
	buffer_clear(&text);
	return is_it;
}

static bool pyclass_lookup_is_class(struct pyreader *reader, const struct pyclass_lookup *look,
				    const struct pytype *base, const char *name)
{
	uint64_t value;

	if (look->name && strcmp(look->name, name) != 0)
		return false;
	if (look->module && !pyclass_lookup_is_module(reader, base, look->module))
		return false;
	return !look->attribute || !pytype_attribute(reader, base, look->attribute, &value);
}

static const struct pyclass_lookup *find_for(struct pyreader *reader, const struct pytype *type,
					     const struct pytype *base)
{
	char name[CLASS_NAME_MAXIMUM];

	if (pyreader_c_string(reader, base->name, name, sizeof(name)))
		return NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(looks); i++) {
		const struct pyclass_lookup *look = &looks[i];

		if ((type->flags & look->flag) == look->flag &&
		    pyclass_lookup_is_class(reader, look, base, name))
			return look;
	}
	return NULL;
}

/* The first row of the table that matches any class of the mro. */
static const struct pyclass_lookup *find(struct pyreader *reader, const struct pytype *type)
{
	int64_t count = pytuple_count(reader, type->mro);
	const struct pyclass_lookup *best = NULL;

	if (count > BASES_MAXIMUM)
		count = BASES_MAXIMUM;
	for (int64_t i = 0; i < count; i++) {
		const struct pyclass_lookup *look;
		struct pytype base;
		uint64_t address;

		if (pytuple_item(reader, type->mro, i, &address) ||
		    pytype_read(reader, address, &base))
			return NULL;
		if (!(base.flags & PYTYPE_HEAP))
			continue;
		look = find_for(reader, type, &base);
		if (look && (!best || look < best))
			best = look;
	}
	return best;
}

const struct pyclass_lookup *pyclass_lookup_find(struct pyreader *reader, const struct pytype *type)
{
	struct pyclass_lookup_cache *cache = &reader->looks;

	if (!(type->flags & PYTYPE_HEAP) || !type->mro)
		return NULL;
	for (size_t i = 0; i < PYCLASS_LOOKUP_CACHE; i++)
		if (cache->items[i].type == type->address)
			return cache->items[i].look;
	cache->items[cache->next].type = type->address;
	cache->items[cache->next].look = find(reader, type);
	const struct pyclass_lookup *found = cache->items[cache->next].look;
	cache->next = (cache->next + 1) % PYCLASS_LOOKUP_CACHE;
	return found;
}

/*
 * Layout of date and time objects: head, hash, hastzinfo (at ZONE_FLAG), then the fields of date
 * and time as bytes (at DIGITS).
 */
#define ZONE_FLAG 24
#define DIGITS 25

struct moment {
	uint8_t has_zone;
	uint8_t digits[10];
	uint8_t fold;
};

static int read_moment(struct pywriter *writer, uint64_t address, struct moment *moment,
		       size_t digit_count)
{
	uint8_t bytes[12];

	*moment = (struct moment){ .fold = 0 };
	if (pyreader_read(writer->reader, address + ZONE_FLAG, bytes, digit_count + 2)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return -1;
	}
	moment->has_zone = bytes[0];
	memcpy(moment->digits, bytes + 1, digit_count);
	moment->fold = bytes[digit_count + 1];
	return 0;
}

/* Writes hour and minute; second and microsecond if they are not zero. */
static void write_clock(struct pywriter *writer, const uint8_t *digits)
{
	int microsecond = digits[3] << 16 | digits[4] << 8 | digits[5];

	buffer_printf(writer->out, "%d, %d", digits[0], digits[1]);
	if (digits[2] || microsecond)
		buffer_printf(writer->out, ", %d", digits[2]);
	if (microsecond)
		buffer_printf(writer->out, ", %d", microsecond);
}

static void write_end(struct pywriter *writer, const struct moment *moment, uint64_t zone_place)
{
	uint64_t zone;

	if (moment->fold)
		pywriter_text(writer, ", fold=1");
	if (moment->has_zone) {
		pywriter_text(writer, ", tzinfo=");
		if (pyreader_pointer(writer->reader, zone_place, &zone))
			zone = 0;
		pywriter_object(writer, zone);
	}
	pywriter_text(writer, ")");
}

static void write_day(struct pywriter *writer, const uint8_t *digits)
{
	buffer_printf(writer->out, "%d, %d, %d", digits[0] << 8 | digits[1], digits[2], digits[3]);
}

void pydate_write(struct pywriter *writer, uint64_t address)
{
	struct moment moment;

	if (read_moment(writer, address, &moment, 4))
		return;
	pywriter_text(writer, "datetime.date(");
	write_day(writer, moment.digits);
	pywriter_text(writer, ")");
}

void pytime_write(struct pywriter *writer, uint64_t address)
{
	struct moment moment;

	if (read_moment(writer, address, &moment, 6))
		return;
	pywriter_text(writer, "datetime.time(");
	write_clock(writer, moment.digits);
	write_end(writer, &moment, address + 32);
}

void pydatetime_write(struct pywriter *writer, uint64_t address)
{
	struct moment moment;

	if (read_moment(writer, address, &moment, 10))
		return;
	pywriter_text(writer, "datetime.datetime(");
	write_day(writer, moment.digits);
	pywriter_text(writer, ", ");
	write_clock(writer, moment.digits + 4);
	write_end(writer, &moment, address + 40);
}

/* PyDateTime_Delta, behind the hash. */
struct delta {
	int32_t days, seconds, microseconds;
};

static int read_delta(struct pyreader *reader, uint64_t address, struct delta *delta)
{
	return pyreader_read(reader, address + PYREADER_HEAD + 8, delta, sizeof(*delta));
}

void pytimedelta_write(struct pywriter *writer, uint64_t address)
{
	const char *comma = "";
	struct delta delta;

	if (read_delta(writer->reader, address, &delta)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	const struct {
		const char *name;
		int32_t value;
	} parts[] = {
		{ "days", delta.days },
		{ "seconds", delta.seconds },
		{ "microseconds", delta.microseconds },
	};
	pywriter_text(writer, "datetime.timedelta(");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].value)
			continue;
		buffer_printf(writer->out, "%s%s=%d", comma, parts[i].name, (int)parts[i].value);
		comma = ", ";
	}
	pywriter_text(writer, comma[0] ? ")" : "0)");
}

/* PyDateTime_TimeZone: offset (a timedelta), name; timezone.utc has offset 0 and no name. */
void pytimezone_write(struct pywriter *writer, uint64_t address)
{
	struct delta delta;
	uint64_t held[2];

	if (pyreader_read(writer->reader, address + PYREADER_HEAD, held, sizeof(held)) ||
	    read_delta(writer->reader, held[0], &delta)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!held[1] && !delta.days && !delta.seconds && !delta.microseconds) {
		pywriter_text(writer, "datetime.timezone.utc");
		return;
	}
	pywriter_text(writer, "datetime.timezone(");
	pywriter_object(writer, held[0]);
	if (held[1]) {
		pywriter_text(writer, ", ");
		pywriter_object(writer, held[1]);
	}
	pywriter_text(writer, ")");
}

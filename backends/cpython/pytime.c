#include "backends/cpython/pytime.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

/* Behind the object's head: hash, hastzinfo, then the fields of date and time as bytes. */
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

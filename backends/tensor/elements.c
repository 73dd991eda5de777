/*
 * Reads a range of units (a unit is byte-swapped as a whole: a float, half of a complex number, a
 * character of a str) as boxes: full rectangles over all dimensions (of a 2-D tensor: the rest of a
 * row, whole rows, the start of a row). A box is read in the order of memory: its dimensions,
 * sorted by stride, are merged into one run of bytes as long as the gaps between are small, because
 * a system call reads superfluous bytes faster than another iovec. The runs of a box are the iovecs
 * of process_vm_readv(2). From the runs the units are picked in the order of their indices.
 */
#include "backends/tensor/elements.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/shuffle.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/dtype.h"

/* Largest gap between units, in bytes, that is read along with the units. */
#define GAP_MAXIMUM 512
/* Maximum bytes that the runs of one box may take. */
#define SCRATCH_MAXIMUM ((int64_t)4 << 20)
/* Maximum number of iovecs of one system call (UIO_MAXIOV). */
#define PARTS_MAXIMUM 1024

struct box {
	uint64_t address; /* address of the first unit in memory */
	int dimension_count;
	int64_t shape[ELEMENTS_DIMENSIONS];
	int64_t strides[ELEMENTS_DIMENSIONS];
	int64_t unit_count;
};

/* The order of a box in memory: its dimensions, the smallest stride first. */
struct order {
	int dimensions[ELEMENTS_DIMENSIONS];
	int count;	/* number of dimensions, without dimensions of stride 0 */
	int run_count;	/* how many of these dimensions lie within a run */
	int64_t length; /* bytes of a run */
	int64_t runs;
};

static void elements_add_dimension(struct elements *elements, int64_t size, int64_t stride)
{
	int last = elements->dimension_count - 1;

	if (size == 1)
		return;
	/* The previous dimension is contiguous with this one: merge them. */
	if (last >= 0 && elements->strides[last] == stride * size) {
		elements->shape[last] *= size;
		elements->strides[last] = stride;
		return;
	}
	elements->shape[last + 1] = size;
	elements->strides[last + 1] = stride;
	elements->dimension_count++;
}

void elements_init(struct elements *elements, const struct tensor_layout *layout)
{
	int unit = layout->dtype->swap_size;

	*elements = (struct elements){
		.pid = layout->pid,
		.address = layout->address,
		.unit_size = unit,
		.is_swapped = layout->is_swapped && unit > 1,
		.bits = dtype_bits(layout->dtype),
		.item_units = layout->item_size / unit,
		.unit_count = tensor_layout_byte_count(layout) / unit,
	};
	if (elements->unit_count == 0)
		return;
	for (int i = 0; i < layout->dimension_count; i++)
		elements_add_dimension(elements, layout->shape[i], layout->strides[i]);
	elements_add_dimension(elements, elements->item_units, unit);
}

int64_t elements_step(const struct elements *elements, int64_t maximum)
{
	int64_t place = 1;

	for (int i = elements->dimension_count - 1; i >= 0; i--) {
		if (elements->shape[i] > maximum / place)
			break;
		place *= elements->shape[i];
	}
	if (place < elements->item_units && elements->item_units <= maximum)
		place = elements->item_units;
	return maximum / place * place;
}

static int64_t absolute(int64_t value)
{
	return value < 0 ? -value : value;
}

/* Sorts the dimensions by stride, the smallest first; leaves out dimensions of stride 0. */
static void sort_dimensions(const int64_t *strides, int count, struct order *order)
{
	order->count = 0;
	for (int i = 0; i < count; i++) {
		int place = order->count;

		if (strides[i] == 0)
			continue;
		while (place > 0 &&
		       absolute(strides[order->dimensions[place - 1]]) > absolute(strides[i])) {
			order->dimensions[place] = order->dimensions[place - 1];
			place--;
		}
		order->dimensions[place] = i;
		order->count++;
	}
}

void elements_sort(struct elements *elements)
{
	struct elements from = *elements;
	struct order order;

	elements->dimension_count = 0;
	for (int i = 0; i < from.dimension_count; i++)
		if (from.strides[i] == 0)
			elements_add_dimension(elements, from.shape[i], 0);
	sort_dimensions(from.strides, from.dimension_count, &order);
	for (int i = order.count - 1; i >= 0; i--) {
		int64_t size = from.shape[order.dimensions[i]];
		int64_t stride = from.strides[order.dimensions[i]];

		if (stride < 0)
			elements->address += (uint64_t)((size - 1) * stride);
		elements_add_dimension(elements, size, absolute(stride));
	}
}

/*
 * System calls
 */

/* Reads the parts into out, one behind the other; returns 0, or an errno. */
static int elements_read_parts(pid_t pid, struct iovec *parts, size_t count, void *out,
			       size_t length)
{
	struct iovec here = { .iov_base = out, .iov_len = length };
	ssize_t done = process_vm_readv(pid, &here, 1, parts, count, 0);

	if (done < 0)
		return errno;
	return (size_t)done == length ? 0 : EFAULT;
}

/* Reads all runs of the box, one after the other; returns 0, or an errno. */
static int read_runs(const struct elements *elements, const struct box *box,
		     const struct order *order, uint8_t *scratch)
{
	int64_t index[ELEMENTS_DIMENSIONS] = { 0 };
	struct iovec parts[PARTS_MAXIMUM];
	uint64_t address = box->address;
	size_t count = 0;

	for (int64_t run = 0; run < order->runs; run++) {
		parts[count].iov_base = (void *)(uintptr_t)address;
		parts[count].iov_len = (size_t)order->length;
		count++;
		for (int i = order->run_count; i < order->count; i++) {
			int dimension = order->dimensions[i];
			int64_t stride = box->strides[dimension];

			address += (uint64_t)stride;
			if (++index[i] < box->shape[dimension])
				break;
			address -= (uint64_t)(stride * index[i]);
			index[i] = 0;
		}
		if (count == PARTS_MAXIMUM || run + 1 == order->runs) {
			size_t bytes = count * (size_t)order->length;
			int number =
				elements_read_parts(elements->pid, parts, count, scratch, bytes);

			if (number)
				return number;
			scratch += bytes;
			count = 0;
		}
	}
	return 0;
}

/*
 * Boxes
 */

static void elements_plan(const struct elements *elements, const struct box *box,
			  struct order *order)
{
	sort_dimensions(box->strides, box->dimension_count, order);
	order->length = elements->unit_size;
	order->run_count = 0;
	while (order->run_count < order->count) {
		int dimension = order->dimensions[order->run_count];
		int64_t stride = absolute(box->strides[dimension]);
		int64_t steps = box->shape[dimension] - 1;

		if (stride - order->length > GAP_MAXIMUM ||
		    steps > (SCRATCH_MAXIMUM - order->length) / stride)
			break;
		order->length += steps * stride;
		order->run_count++;
	}
	order->runs = 1;
	for (int i = order->run_count; i < order->count; i++)
		order->runs *= box->shape[order->dimensions[i]];
}

/* Computes the strides of the box's units within the runs that were read. */
static void elements_describe(const struct box *box, const struct order *order, int64_t *strides)
{
	int64_t stride = order->length;

	for (int i = 0; i < box->dimension_count; i++)
		strides[i] = 0;
	for (int i = 0; i < order->count; i++) {
		int dimension = order->dimensions[i];
		int64_t size = box->shape[dimension];

		if (i < order->run_count) {
			strides[dimension] = box->strides[dimension];
			continue;
		}
		strides[dimension] = stride;
		stride *= size;
	}
}

static int read_box(const struct elements *elements, const struct box *box, uint8_t *out);

/* Reads the two halves of the box along its first dimension of size 2 or more. */
static int read_halves(const struct elements *elements, const struct box *box, uint8_t *out)
{
	struct box half = *box;
	int first = 0;
	int64_t size;
	int number;

	while (box->shape[first] == 1)
		first++;
	size = box->shape[first] / 2;
	half.shape[first] = size;
	half.unit_count = box->unit_count / box->shape[first] * size;
	number = read_box(elements, &half, out);
	if (number)
		return number;
	out += half.unit_count * elements->unit_size;
	half.address += (uint64_t)(size * box->strides[first]);
	half.shape[first] = box->shape[first] - size;
	half.unit_count = box->unit_count - half.unit_count;
	return read_box(elements, &half, out);
}

/* Reverses the dimensions of negative stride, whose last index comes first in memory. */
static void elements_turn(struct box *box, bool *is_turned)
{
	for (int i = 0; i < box->dimension_count; i++) {
		is_turned[i] = box->strides[i] < 0;
		if (!is_turned[i])
			continue;
		box->address += (uint64_t)((box->shape[i] - 1) * box->strides[i]);
		box->strides[i] = -box->strides[i];
	}
}

/* Reads the units of a box into out, in the order of their indices; returns 0, or an errno. */
static int read_box(const struct elements *elements, const struct box *box, uint8_t *out)
{
	bool is_turned[ELEMENTS_DIMENSIONS];
	int64_t strides[ELEMENTS_DIMENSIONS];
	struct box turned = *box;
	struct order order;
	const uint8_t *first;
	uint8_t *scratch;
	int number;

	elements_turn(&turned, is_turned);
	elements_plan(elements, &turned, &order);
	if (order.runs > SCRATCH_MAXIMUM / order.length)
		return read_halves(elements, box, out);
	scratch = xmalloc((size_t)(order.runs * order.length));
	number = read_runs(elements, &turned, &order, scratch);
	if (number == 0) {
		first = scratch;
		elements_describe(&turned, &order, strides);
		for (int i = 0; i < box->dimension_count; i++) {
			if (!is_turned[i])
				continue;
			first += (box->shape[i] - 1) * strides[i];
			strides[i] = -strides[i];
		}
		shuffle_gather(first, box->dimension_count, box->shape, strides,
			       elements->unit_size, out);
	}
	free(scratch);
	return number;
}

/* Reads `size` indices of a dimension, with all of the following dimensions. */
static int read_whole(const struct elements *elements, int dimension, uint64_t address,
		      int64_t size, uint8_t *out)
{
	struct box box = { .address = address, .unit_count = size };

	if (size == 0)
		return 0;
	for (int i = dimension; i < elements->dimension_count; i++) {
		box.shape[box.dimension_count] = i == dimension ? size : elements->shape[i];
		box.strides[box.dimension_count] = elements->strides[i];
		box.dimension_count++;
		if (i > dimension)
			box.unit_count *= elements->shape[i];
	}
	return read_box(elements, &box, out);
}

/*
 * Reads units start to start + count of the subtensor at address; the subtensor has the dimensions
 * from `dimension` on. place: the number of units in one index of `dimension`.
 */
static int elements_read_range(const struct elements *elements, int dimension, uint64_t address,
			       int64_t place, int64_t start, int64_t count, uint8_t *out)
{
	int64_t stride;
	int64_t head;
	int64_t whole;
	int64_t inner;
	int number;

	if (dimension == elements->dimension_count)
		return read_whole(elements, dimension, address, count, out);
	stride = elements->strides[dimension];
	inner = dimension + 1 < elements->dimension_count ? place / elements->shape[dimension + 1]
							  : 1;
	address += (uint64_t)(start / place * stride);
	head = start % place ? place - start % place : 0;
	if (head > count)
		head = count;
	if (head > 0) {
		number = elements_read_range(elements, dimension + 1, address, inner, start % place,
					     head, out);
		if (number || head == count)
			return number;
		address += (uint64_t)stride;
		out += head * elements->unit_size;
	}
	whole = (count - head) / place;
	number = read_whole(elements, dimension, address, whole, out);
	count -= head + whole * place;
	if (number || count == 0)
		return number;
	out += whole * place * elements->unit_size;
	address += (uint64_t)(whole * stride);
	return elements_read_range(elements, dimension + 1, address, inner, 0, count, out);
}

/* Reads count units from unit start on; returns 0, or an errno. */
static int read_units(const struct elements *elements, int64_t start, int64_t count, uint8_t *out)
{
	int64_t size = elements->dimension_count > 0 ? elements->shape[0] : 1;
	int64_t place = elements->unit_count / size;
	int number;

	if (elements->dimension_count == 1 && elements->strides[0] == elements->unit_size) {
		size_t length = (size_t)(count * elements->unit_size);
		struct iovec part = {
			.iov_base = (void *)(uintptr_t)(elements->address +
							(uint64_t)(start * elements->unit_size)),
			.iov_len = length,
		};

		number = elements_read_parts(elements->pid, &part, 1, out, length);
	} else {
		number = elements_read_range(elements, 0, elements->address, place, start, count,
					     out);
	}
	if (number == 0 && elements->is_swapped)
		shuffle_swap(out, (size_t)count, elements->unit_size);
	for (int64_t i = 0;
	     elements->bits != UINT8_MAX && number == 0 && i < count * elements->unit_size; i++)
		out[i] &= elements->bits;
	return number;
}

static uint64_t elements_address_of(const struct elements *elements, int64_t unit)
{
	uint64_t address = elements->address;

	for (int i = elements->dimension_count - 1; i >= 0; i--) {
		int64_t place = unit % elements->shape[i];

		unit /= elements->shape[i];
		address += (uint64_t)(place * elements->strides[i]);
	}
	return address;
}

static int elements_explain(const struct elements *elements, int64_t unit, int number,
			    struct error *error)
{
	int64_t index = unit / elements->item_units;

	if (number == ESRCH)
		return error_set(error, "the process has exited");
	if (number == EPERM)
		return error_set(error, "no permission to read the memory of the process: run as "
					"the same user, or with CAP_SYS_PTRACE");
	if (number != EFAULT)
		return error_set_errno(error, number, "element %" PRId64 " cannot be read", index);
	return error_set(error,
			 "element %" PRId64 " cannot be read: no memory is mapped at 0x%" PRIx64,
			 index, elements_address_of(elements, unit));
}

int64_t elements_read(const struct elements *elements, int64_t start, int64_t count, void *out,
		      struct error *error)
{
	int64_t half = count / 2;
	uint8_t *bytes = out;
	int64_t done;
	int number;

	assert(start >= 0 && count >= 0 && count <= elements->unit_count - start);
	if (count == 0)
		return 0;
	number = read_units(elements, start, count, out);
	if (number == 0)
		return count;
	if (number != EFAULT || count == 1) {
		elements_explain(elements, start, number, error);
		return 0;
	}
	/* Halves the range to find the first element that cannot be read. */
	done = elements_read(elements, start, half, out, error);
	if (done < half)
		return done;
	return half + elements_read(elements, start + half, count - half,
				    bytes + half * elements->unit_size, error);
}

/*
 * Returns the slice's rectangle as a layout of its own. Unsigned numbers, because the address of an
 * empty slice may wrap around.
 */
static struct tensor_layout single_elements_cut(const struct tensor_layout *layout,
						const struct tensor_slice *slice)
{
	struct tensor_layout part = *layout;
	const int64_t *mask = layout->mask_strides;
	int dimensions[] = { slice->row_dimension, slice->column_dimension };
	int64_t starts[] = { slice->row, slice->column };
	int64_t counts[] = { slice->row_count, slice->column_count };

	part.dimension_count = 2;
	for (int i = 0; i < layout->dimension_count; i++)
		if (i != slice->row_dimension && i != slice->column_dimension) {
			part.address += (uint64_t)slice->index[i] * (uint64_t)layout->strides[i];
			part.mask_address += (uint64_t)slice->index[i] * (uint64_t)mask[i];
		}
	for (int i = 0; i < 2; i++) {
		part.shape[i] = counts[i];
		part.strides[i] = 0;
		part.mask_strides[i] = 0;
		if (dimensions[i] < 0)
			continue;
		part.strides[i] = layout->strides[dimensions[i]];
		part.address += (uint64_t)starts[i] * (uint64_t)part.strides[i];
		part.mask_strides[i] = mask[dimensions[i]];
		part.mask_address += (uint64_t)starts[i] * (uint64_t)part.mask_strides[i];
	}
	return part;
}

static void single_elements_tell(const struct tensor_layout *layout, const uint8_t *bytes,
				 int64_t count, struct tensor_number *numbers)
{
	for (int64_t i = 0; i < count; i++)
		dtype_number(layout->dtype, bytes + i * layout->item_size,
			     (size_t)layout->item_size, &numbers[i]);
}

/*
 * Reads the slice's elements; elements behind the first unreadable one are read one by one. Returns
 * the number of elements that were read.
 */
static int64_t single_elements_read_numbers(const struct tensor_layout *part, uint8_t *bytes,
					    struct tensor_slice *slice, struct error *error)
{
	int64_t count = (int64_t)slice->count;
	int64_t done = count;
	int64_t known;
	struct elements elements;

	elements_init(&elements, part);
	if (elements.unit_count > 0)
		done = elements_read(&elements, 0, elements.unit_count, bytes, error) /
		       elements.item_units;
	single_elements_tell(part, bytes, done, slice->numbers);
	known = done;
	for (int64_t i = done + 1; i < count; i++) {
		int64_t start = i * elements.item_units;

		if (elements_read(&elements, start, elements.item_units, bytes, NULL) <
		    elements.item_units)
			continue;
		single_elements_tell(part, bytes, 1, &slice->numbers[i]);
		known++;
	}
	return known;
}

/*
 * Shows masked elements as "--", like numpy; if the mask is unreadable, the element becomes
 * unknown.
 */
static void hide_masked(const struct tensor_layout *part, struct tensor_slice *slice)
{
	struct tensor_layout layout = tensor_layout_mask(part);
	struct elements elements;

	elements_init(&elements, &layout);
	for (size_t i = 0; i < slice->count; i++) {
		struct tensor_number *number = &slice->numbers[i];
		uint8_t masked;
		bool is_known = elements_read(&elements, (int64_t)i, 1, &masked, NULL) == 1;

		if (is_known && !masked)
			continue;
		tensor_number_clear(number);
		if (!is_known)
			continue;
		number->kind = TENSOR_NUMBER_TEXT;
		number->text = xstrdup("--");
	}
}

int single_elements_slice(const struct tensor_layout *layout, struct tensor_slice *slice,
			  struct error *error)
{
	struct tensor_layout part = single_elements_cut(layout, slice);
	int64_t count = slice->row_count * slice->column_count;
	size_t length = (size_t)(count * layout->item_size);
	uint8_t *bytes;
	int64_t known;

	slice->numbers = xcalloc(count > 0 ? (size_t)count : 1, sizeof(*slice->numbers));
	slice->count = (size_t)count;
	if (count == 0)
		return 0;
	bytes = xmalloc(length > 0 ? length : 1);
	known = single_elements_read_numbers(&part, bytes, slice, error);
	free(bytes);
	if (layout->has_mask)
		hide_masked(&part, slice);
	return known > 0 ? 0 : error_prefix(error, "the slice");
}

uint8_t *single_elements_data(const struct tensor_layout *layout, int64_t start, int64_t count,
			      size_t *length, struct error *error)
{
	int64_t units;
	struct elements elements;
	uint8_t *bytes;

	elements_init(&elements, layout);
	units = count * elements.item_units;
	*length = (size_t)(units * elements.unit_size);
	bytes = xmalloc(*length > 0 ? *length : 1);
	if (units == 0 ||
	    elements_read(&elements, start * elements.item_units, units, bytes, error) == units)
		return bytes;
	free(bytes);
	return NULL;
}

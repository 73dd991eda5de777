#include "backends/tensor/histogram.h"

#include <math.h>
#include <stddef.h>

#include "backends/tensor/statistics.h"
#include "banned.h"
#include "protocol/dtype.h"

/* Computes with halved values: the difference of two doubles may be too large for a double. */
static void histogram_add_values(const struct histogram_bounds *bounds, const double *values,
				 size_t count, int64_t *bins)
{
	double low = bounds->low / 2;
	double width = bounds->high / 2 - low;
	double scale = width > 0 ? bounds->bin_count / width : 0;
	double last = bounds->bin_count - 1;

	/* low and high are so near to each other that the scale overflows. */
	if (!isfinite(scale))
		scale = 0;
	for (size_t i = 0; i < count; i++) {
		double place = (values[i] / 2 - low) * scale;

		if (!isfinite(values[i]))
			continue;
		place = place > 0 ? place : 0;
		bins[(size_t)(place < last ? place : last)]++;
	}
}

void histogram_add(const struct histogram_bounds *bounds, const struct dtype *dtype,
		   const uint8_t *bytes, int64_t count, int64_t *bins)
{
	double values[STATISTICS_PART];

	while (count > 0) {
		int64_t part = count < STATISTICS_PART ? count : STATISTICS_PART;

		dtype_decode(dtype, bytes, (size_t)part, values);
		histogram_add_values(bounds, values, (size_t)part, bins);
		bytes += part * dtype->size;
		count -= part;
	}
}

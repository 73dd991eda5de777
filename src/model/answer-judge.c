/*
 * answer-judge: finds the outliers among the answers, and each number's deviation from
 * the median.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "model/answers-private.h"
#include "protocol/tensor.h"

static int compare_numbers(const void *a, const void *b)
{
	double one = *(const double *)a;
	double other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Median over all ranks whose answer is a finite number; NAN: no such rank. */
static double find_median(const struct answer_classes *classes, size_t ranks)
{
	double *numbers = xcalloc(ranks + 1, sizeof(*numbers));
	double median = NAN;
	size_t count = 0;

	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];
		size_t of_class = rankset_count(&class->ranks);

		if (!class->is_number || !isfinite(class->number))
			continue;
		while (of_class-- > 0)
			numbers[count++] = class->number;
	}
	qsort(numbers, count, sizeof(*numbers), compare_numbers);
	if (count > 0)
		median = numbers[(count - 1) / 2] / 2 + numbers[count / 2] / 2;
	free(numbers);
	return median;
}

static bool answer_judge_is_unread(const struct answer_class *class)
{
	return class->tensor && !class->tensor->has_hash && !class->tensor->has_statistics;
}

static bool have_same_head(const struct tensor *a, const struct tensor *b)
{
	return strcmp(a->dtype, b->dtype) == 0 && tensor_has_same_shape(a, b);
}

static void find_unknown(struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		struct answer_class *class = &classes->items[i];

		for (size_t j = 0; answer_judge_is_unread(class) && j < classes->count; j++)
			if (j != i && classes->items[j].tensor &&
			    have_same_head(class->tensor, classes->items[j].tensor))
				class->is_unknown = true;
	}
}

/*
 * If some answers are finite numbers, answers that are not are odd; else answers that
 * differ from the majority's are odd.
 */
static void answer_judge_judge(struct answer_classes *classes, size_t ranks)
{
	double median = find_median(classes, ranks);
	bool is_told = answer_classes_majority(classes) && classes->value_count > 1 &&
		       !answer_classes_are_shards(classes);
	size_t answered = answer_classes_answered(classes);

	for (size_t i = 0; i < classes->count; i++) {
		struct answer_class *class = &classes->items[i];
		size_t count = rankset_count(&class->ranks);
		bool is_finite = class->is_number && isfinite(class->number);

		if (class->is_failure || class->is_unknown)
			continue;
		class->is_odd = class->is_number && isnan(class->number);
		if (!isnan(median) && !is_finite)
			class->is_odd = true;
		if (class->tensor && (class->has_nan || class->has_infinity))
			class->is_odd = true;
		if (isnan(median) && !class->is_number && is_told && count * 2 < answered)
			class->is_odd = true;
		if (!is_finite || isnan(median) || median == 0)
			continue;
		class->deviation = (class->number - median) / fabs(median);
		class->factor = class->number / median;
	}
}

/*
 * True if the answers look like ranks or process ids: each rank has another whole number,
 * and none is far from the median. An outlier would be far from the median.
 */
static bool has_own_numbers(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (class->is_failure)
			continue;
		if (rankset_count(&class->ranks) > 1 || !class->is_number ||
		    class->text[strspn(class->text, "-0123456789")] != '\0' ||
		    fabs(class->deviation) >= ANSWER_FACTOR)
			return false;
	}
	return true;
}

static void drop_deviations(struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++)
		classes->items[i].deviation = 0;
}

void answer_classes_judge(struct answer_classes *classes, size_t ranks)
{
	find_unknown(classes);
	answer_judge_judge(classes, ranks);
	if (has_own_numbers(classes))
		drop_deviations(classes);
}

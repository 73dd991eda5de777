/*
 * answer-classes: partitions the ranks' answers into classes of equal answers, or of
 * answers within a tolerance.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"
#include "protocol/tensor.h"

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF");
}

/*
 * Returns the text without object addresses ("<Net object at 0x7f…>"), which differ
 * between processes, and without trailing blanks.
 */
static char *answer_classes_make_key(const char *text)
{
	struct buffer key = BUFFER_INIT;
	const char *address;

	while ((address = strstr(text, " at 0x"))) {
		size_t digits = hex_digits(address + 6);

		buffer_append(&key, text, (size_t)(address + 6 - text));
		if (digits >= 6)
			buffer_append_string(&key, "\u2026");
		else
			buffer_append(&key, address + 6, digits);
		text = address + 6 + digits;
	}
	buffer_append_string(&key, text);
	while (key.length > 0 && strchr(" \n\r\t", key.data[key.length - 1]))
		buffer_truncate(&key, key.length - 1);
	return buffer_take(&key);
}

/* Skips a type's name like "tensor(" or "np.float64(" before a number. */
static const char *answer_classes_skip_name(const char *text)
{
	const char *at = text;

	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
	       (at > text && ((*at >= '0' && *at <= '9') || *at == '_' || *at == '.')))
		at++;
	return at > text && *at == '(' ? at + 1 : text;
}

/* Parses a number as Python prints it: "-1.5e-05", "nan", "tensor(0.5, device='cpu')". */
static bool answer_classes_parse_number(const char *text, double *number)
{
	static const char *const words[] = { "nan", "inf", "-inf" };
	const char *at = answer_classes_skip_name(text);
	bool is_named = at != text;
	size_t length = strspn(at, "+-.0123456789eE");
	char *end;

	if (*at == '+')
		return false;
	for (size_t i = 0; length < 3 && i < ARRAY_LENGTH(words); i++)
		if (strncmp(at, words[i], strlen(words[i])) == 0)
			length = strlen(words[i]);
	if (length == 0)
		return false;
	*number = strtod(at, &end);
	if (end != at + length)
		return false;
	return is_named ? *end == ')' || *end == ',' : *end == '\0';
}

/* A tensor of one element is treated as a number. */
static void read_single(struct answer_class *class)
{
	const struct tensor_statistics *of = &class->tensor->statistics;

	if (class->is_number || class->tensor->element_count != 1 || !class->tensor->has_statistics)
		return;
	class->is_number = true;
	if (of->nan_count > 0)
		class->number = NAN;
	else if (!isnan(of->mean))
		class->number = of->mean;
	else
		class->is_number = false;
}

static void answer_classes_read_tensor(struct answer_class *class)
{
	const struct tensor *tensor = class->tensor;

	read_single(class);
	class->is_sure = tensor->has_hash;
	class->has_nan = tensor_nan_count(tensor) > 0;
	class->has_infinity = tensor_infinity_count(tensor) > 0;
	if (!tensor->has_statistics || !tensor->statistics.has_norm)
		return;
	class->has_level = true;
	class->level = tensor->statistics.norm;
}

/*
 * True if all parts of the value (answers->parts: its tensors and plain values) were read and
 * compared on all ranks of the class.
 */
static bool are_parts_sure(const struct answers *answers, const struct answer_class *class)
{
	int rank = -1;

	if (!answers->parts)
		return false;
	while ((rank = rankset_next(&class->ranks, rank)) >= 0)
		if (!paramdiff_is_whole(answers->parts, rank))
			return false;
	return true;
}

static void answer_classes_read_value(struct answer_class *class)
{
	class->is_sure = !answer_has_parts(class->first);
	class->is_number = answer_classes_parse_number(class->text, &class->number);
	if (class->tensor)
		answer_classes_read_tensor(class);
	if (!class->is_number)
		return;
	class->has_nan |= isnan(class->number);
	class->has_level = true;
	class->level = class->number;
}

static struct answer_class *answer_classes_add_class(struct answer_classes *classes,
						     size_t *capacity, char *owned_text,
						     const struct answer *answer)
{
	struct answer_class *class;

	ARRAY_GROW(classes->items, classes->count, *capacity);
	class = &classes->items[classes->count++];
	*class = (struct answer_class){
		.text = owned_text,
		.first = answer,
		.is_failure = !answer->text,
		.is_raised = answer->is_raised,
		.tensor = answer->tensor,
		.merged = 1,
	};
	if (!class->is_failure)
		answer_classes_read_value(class);
	return class;
}

/* Returns the text of a failed answer: the printed output, followed by the error. */
static char *answer_classes_make_failure(const struct answer *answer)
{
	struct buffer out = BUFFER_INIT;

	if (answer->output)
		buffer_append_string(&out, answer->output);
	if (out.length > 0 && out.data[out.length - 1] != '\n')
		buffer_append_char(&out, '\n');
	buffer_append_string(&out, answer->error ? answer->error : "");
	return buffer_take(&out);
}

/*
 * Returns a text that is equal for tensors of one class. Without a hash, tensors with equal
 * statistics count as equal.
 */
static char *make_tensor_key(const struct tensor *tensor)
{
	struct buffer key = BUFFER_INIT;

	tensortext_append_head(&key, tensor);
	if (tensor->placement)
		buffer_printf(&key, " %s @%s", tensor->placement,
			      tensor->shard ? tensor->shard : "");
	if (tensor->has_hash)
		buffer_printf(&key, " #%08" PRIx32, tensor->hash);
	else if (tensor->has_statistics)
		buffer_printf(&key, " %.17g %.17g %.17g", tensor->statistics.mean,
			      tensor->statistics.deviation, tensor->statistics.norm);
	if (!tensor->has_hash)
		tensortext_append_statistics(&key, tensor);
	return buffer_take(&key);
}

/*
 * Hash of the rank's parts; 0: unknown. Ranks with different parts are in different
 * classes, even if the texts are equal.
 */
static uint64_t signature_of(const struct answers *answers, const struct answer *answer)
{
	const struct paramdiff_rank *rank =
		answers->parts && answers->parts->is_over
			? paramdiff_find_rank(answers->parts, answer->rank)
			: NULL;

	return rank && !rank->error ? rank->signature : 0;
}

static char *make_unique(const struct answers *answers, const struct answer *answer,
			 const char *key)
{
	char *of_tensor;
	char *unique;

	if (!answer->text || !answer->tensor)
		return xasprintf("%c%016" PRIx64 "%s", answer->text ? '=' : '!',
				 signature_of(answers, answer), key);
	of_tensor = make_tensor_key(answer->tensor);
	unique = xasprintf("#%s", of_tensor);
	free(of_tensor);
	return unique;
}

/*
 * by_key maps a key to the index of its class + 1 (0: no class). Indices stay valid when the array
 * of classes is reallocated; pointers would not.
 */
static void answer_classes_add_answer(struct answer_classes *classes, size_t *capacity,
				      struct strmap *by_key, const struct answers *answers,
				      const struct answer *answer)
{
	bool is_failure = !answer->text;
	char *text = is_failure ? answer_classes_make_failure(answer) : NULL;
	char *key = answer_classes_make_key(is_failure ? text : answer->text);
	char *unique = make_unique(answers, answer, key);
	uintptr_t number = (uintptr_t)strmap_find(by_key, unique);

	if (number == 0) {
		answer_classes_add_class(classes, capacity, key, answer);
		number = classes->count;
		strmap_put(by_key, unique, (void *)number);
	} else {
		free(key);
	}
	rankset_add(&classes->items[number - 1].ranks, answer->rank);
	free(unique);
	free(text);
}

static bool are_tensors_near(const struct answers *answers, const struct answer_class *one,
			     const struct answer_class *other)
{
	const struct difference *difference = difference_of(answers, one, other);

	return difference && difference->state == DIFFERENCE_DONE &&
	       tensordiff_is_within(&difference->found, answers->tolerance);
}

static bool are_near(const struct answers *answers, const struct answer_class *one,
		     const struct answer_class *other)
{
	if (one->is_failure || other->is_failure || !one->tensor != !other->tensor)
		return false;
	if (one->tensor)
		return are_tensors_near(answers, one, other);
	return one->is_number && other->is_number &&
	       fabs(one->number - other->number) <= answers->tolerance;
}

static int compare_sizes(const struct answer_class *a, const struct answer_class *b)
{
	size_t one = rankset_count(&a->ranks);
	size_t other = rankset_count(&b->ranks);

	if (one != other)
		return one < other ? -1 : 1;
	return rankset_first(&a->ranks) - rankset_first(&b->ranks);
}

/* Sorts the largest class first; of equally large classes the one with the lowest rank. */
static int compare_leaders(const void *one, const void *other)
{
	const struct answer_class *a = one;
	const struct answer_class *b = other;
	size_t a_count = rankset_count(&a->ranks);
	size_t b_count = rankset_count(&b->ranks);

	if (a_count != b_count)
		return a_count > b_count ? -1 : 1;
	return rankset_first(&a->ranks) - rankset_first(&b->ranks);
}

/*
 * Classes within the tolerance of the largest class join it; then the next largest
 * remaining class is the leader, and so on. Each class is compared with the leader, not
 * with other joined classes, so that no chain of near values joins distant ones.
 */
static void merge_near(struct answer_classes *classes, const struct answers *answers)
{
	if (!(answers->tolerance > 0) || classes->count == 0)
		return;
	qsort(classes->items, classes->count, sizeof(*classes->items), compare_leaders);
	for (size_t i = 0; i < classes->count; i++) {
		struct answer_class leader = classes->items[i];
		struct rankset joined = RANKSET_INIT;
		size_t kept = i + 1;

		for (size_t j = i + 1; j < classes->count; j++) {
			struct answer_class *class = &classes->items[j];

			if (!are_near(answers, &leader, class)) {
				classes->items[kept++] = *class;
				continue;
			}
			rankset_unite(&joined, &class->ranks);
			classes->items[i].merged++;
			rankset_clear(&class->ranks);
			free(class->text);
		}
		classes->count = kept;
		rankset_unite(&classes->items[i].ranks, &joined);
		rankset_clear(&joined);
	}
}

/* Number of ranks that answered without a failure. */
static size_t answer_classes_answered(const struct answer_classes *classes)
{
	size_t answered = 0;

	for (size_t i = 0; i < classes->count; i++)
		if (!classes->items[i].is_failure)
			answered += rankset_count(&classes->items[i].ranks);
	return answered;
}

const struct answer_class *answer_classes_majority(const struct answer_classes *classes)
{
	size_t answered = answer_classes_answered(classes);

	for (size_t i = 0; i < classes->count; i++)
		if (!classes->items[i].is_failure &&
		    rankset_count(&classes->items[i].ranks) * 2 > answered)
			return &classes->items[i];
	return NULL;
}

/* Sort order: more ranks first, then classes without NaN, then the lowest rank. */
static bool answer_classes_is_before(const struct answer_class *one,
				     const struct answer_class *other)
{
	size_t count = rankset_count(&one->ranks);

	if (count != rankset_count(&other->ranks))
		return count > rankset_count(&other->ranks);
	if (one->has_nan != other->has_nan)
		return other->has_nan;
	return rankset_first(&one->ranks) < rankset_first(&other->ranks);
}

const struct answer_class *answer_classes_reference(const struct answer_classes *classes)
{
	const struct answer_class *best = answer_classes_majority(classes);

	if (best && best->tensor)
		return best;
	best = NULL;
	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (class->tensor && (!best || answer_classes_is_before(class, best)))
			best = class;
	}
	return best;
}

bool answer_classes_have_nan(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->value_count; i++)
		if (classes->items[i].has_nan || classes->items[i].has_infinity)
			return true;
	return false;
}

static bool answer_classes_is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool answer_classes_are_shards(const struct answer_classes *classes)
{
	struct strmap *seen = strmap_new(NULL);
	bool are_shards = classes->value_count > 0;

	for (size_t i = 0; are_shards && i < classes->value_count; i++) {
		const struct tensor *first = classes->items[0].tensor;
		const struct tensor *tensor = classes->items[i].tensor;

		are_shards = tensor && tensor_is_shard(tensor) &&
			     answer_classes_is_same_text(first->placement, tensor->placement) &&
			     answer_classes_is_same_text(first->dtype, tensor->dtype) &&
			     (!tensor->shard || !strmap_find(seen, tensor->shard));
		if (are_shards && tensor->shard)
			strmap_put(seen, tensor->shard, seen);
	}
	strmap_free(seen);
	return are_shards;
}

const struct answer_class *answer_classes_find(const struct answer_classes *classes, int rank)
{
	for (size_t i = 0; i < classes->count; i++)
		if (rankset_contains(&classes->items[i].ranks, rank))
			return &classes->items[i];
	return NULL;
}

static int compare_classes(const void *one, const void *other)
{
	const struct answer_class *a = one;
	const struct answer_class *b = other;
	double a_far = fabs(a->deviation);
	double b_far = fabs(b->deviation);

	if (a->is_failure != b->is_failure)
		return a->is_failure ? 1 : -1;
	if (a->is_raised != b->is_raised)
		return a->is_raised ? -1 : 1;
	if (a->is_odd != b->is_odd)
		return a->is_odd ? -1 : 1;
	if (a->has_nan != b->has_nan)
		return a->has_nan ? -1 : 1;
	if (a_far != b_far)
		return a_far > b_far ? -1 : 1;
	return compare_sizes(a, b);
}

/* True if another class has the same text: an unread value may be equal to that class's value. */
static bool is_beside_like(const struct answer_classes *classes, const struct answer_class *class)
{
	for (size_t i = 0; i < classes->count; i++)
		if (&classes->items[i] != class && !classes->items[i].is_failure &&
		    strcmp(classes->items[i].text, class->text) == 0)
			return true;
	return false;
}

static void answer_classes_read_parts(const struct answer_classes *classes,
				      const struct answers *answers, struct answer_class *class)
{
	const struct paramdiff_rank *rank;

	if (class->is_failure || !answer_has_parts(class->first))
		return;
	class->is_sure = are_parts_sure(answers, class);
	if (!answers->parts)
		return;
	rank = paramdiff_find_rank(answers->parts, class->first->rank);
	class->is_unknown = (!rank || rank->error) && is_beside_like(classes, class);
}

/* From here on: the outliers among the answers, and each number's deviation from the median. */

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
 * Sets is_odd, deviation and factor. If some answers are finite numbers, answers that are not
 * finite numbers are odd; otherwise, answers that differ from the majority's answer are odd. NaN,
 * and tensors with NaN or infinity, are always odd.
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
 * True if the answers look like ranks or process ids: each rank has a different whole number, and
 * no number is far from the median, as an outlier would be.
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

/*
 * Sets is_odd, is_unknown, deviation and factor of all classes; ranks is the number of
 * ranks asked. The classes must be complete and value_count set.
 */
static void answer_classes_judge(struct answer_classes *classes, size_t ranks)
{
	find_unknown(classes);
	answer_judge_judge(classes, ranks);
	if (has_own_numbers(classes))
		drop_deviations(classes);
}

void answer_classes_make(struct answer_classes *classes, const struct answers *answers)
{
	struct strmap *by_key = strmap_new(NULL);
	size_t capacity = 0;

	*classes = (struct answer_classes){ .waiting = RANKSET_INIT };
	for (size_t i = 0; i < answers->count; i++) {
		const struct answer *answer = &answers->items[i];

		if (answer->has_come)
			answer_classes_add_answer(classes, &capacity, by_key, answers, answer);
		else
			rankset_add(&classes->waiting, answer->rank);
	}
	for (size_t i = 0; i < classes->count; i++)
		answer_classes_read_parts(classes, answers, &classes->items[i]);
	merge_near(classes, answers);
	for (size_t i = 0; i < classes->count; i++)
		classes->value_count += !classes->items[i].is_failure;
	answer_classes_judge(classes, answers->count);
	if (classes->count > 0)
		qsort(classes->items, classes->count, sizeof(*classes->items), compare_classes);
	strmap_free(by_key);
}

void answer_classes_clear(struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		rankset_clear(&classes->items[i].ranks);
		free(classes->items[i].text);
	}
	free(classes->items);
	rankset_clear(&classes->waiting);
	*classes = (struct answer_classes){ .items = NULL };
}

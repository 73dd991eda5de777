/*
 * answer-sentence: sentences about answers: a number's deviation, how many values there
 * are, and which rank differs and how.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"
#include "protocol/tensor.h"

/* Smaller deviations are not printed. */
#define DEVIATION_MINIMUM 0.0005
/* Maximum width of a value in a sentence. */
#define VALUE_COLUMNS 60

void answer_class_append_deviation(struct buffer *out, const struct answer_class *class)
{
	double size = fabs(class->deviation);

	if (size < DEVIATION_MINIMUM || !isfinite(size))
		return;
	if (size >= ANSWER_FACTOR)
		buffer_printf(out, "%.3g times the median", class->factor);
	else
		buffer_printf(out, size < 0.1 ? "%+.1f %% of the median" : "%+.0f %% of the median",
			      class->deviation * 100);
}

static const char *answer_sentence_name_of(double number)
{
	if (isnan(number))
		return "nan";
	return number > 0 ? "inf" : "-inf";
}

static void append_counted(struct buffer *out, size_t count, const char *one, const char *many)
{
	text_count(out, count);
	buffer_printf(out, " %s", count == 1 ? one : many);
}

/* Appends "; rank 5 is nan" for an odd class of numbers. */
static void answer_sentence_append_odd(struct buffer *out, const struct answer_class *class)
{
	bool is_one = rankset_count(&class->ranks) == 1;

	if (!class->is_odd || !class->is_number)
		return;
	buffer_append_string(out, is_one ? "; rank " : "; ranks ");
	rankset_append(out, &class->ranks);
	buffer_printf(out, is_one ? " is %s" : " are %s", answer_sentence_name_of(class->number));
}

void answer_classes_append_summary(struct buffer *out, const struct answer_classes *classes,
				   const struct answers *answers)
{
	size_t come = answers_come(answers);
	struct rankset failed = RANKSET_INIT;

	if (come < answers->count) {
		text_count(out, come);
		buffer_append_string(out, " of ");
		text_count(out, answers->count);
		buffer_append_string(out, " answered");
		return;
	}
	for (size_t i = classes->value_count; i < classes->count; i++)
		rankset_unite(&failed, &classes->items[i].ranks);
	if (answers->kind == ANSWERS_COMPARE && answer_classes_are_shards(classes))
		append_counted(out, classes->value_count, "shard", "shards");
	else
		append_counted(out, classes->value_count,
			       answers->kind == ANSWERS_BROADCAST ? "answer" : "value",
			       answers->kind == ANSWERS_BROADCAST ? "answers" : "values");
	buffer_append_string(out, " over ");
	append_counted(out, come - rankset_count(&failed), "rank", "ranks");
	for (size_t i = 0; i < classes->value_count; i++)
		answer_sentence_append_odd(out, &classes->items[i]);
	if (rankset_count(&failed) > 0) {
		buffer_append_string(out, rankset_count(&failed) == 1 ? "; no answer from rank "
								      : "; no answer from ranks ");
		rankset_append(out, &failed);
	}
	rankset_clear(&failed);
}

/* From here on: the sentence that says which rank differs, and how. */

/* The input of a sentence: one class, and the majority that the class differs from. */
struct telling {
	const struct answers *answers;
	const struct answer_classes *classes;
	const struct answer_class *class;
	const struct answer_class *majority; /* NULL: no majority */
};

static void answer_sentence_append_question(struct buffer *out, const struct telling *telling)
{
	const char *question = telling->answers->question;

	text_append_line(out, question, strcspn(question, "\n"));
}

/* Appends " on rank 2, but ": the middle of "loss is nan on rank 2, but 0.5 on ranks 0-1,3". */
static void append_but(struct buffer *out, const struct telling *telling)
{
	buffer_append_string(out, " on ");
	rankset_append_named(out, &telling->class->ranks);
	buffer_append_string(out, ", but ");
}

static void append_on_majority(struct buffer *out, const struct telling *telling)
{
	buffer_append_string(out, " on ");
	rankset_append_named(out, &telling->majority->ranks);
}

/* True if all elements were read, not only a sample, so that no NaN can be missed. */
static bool is_all_known(const struct answer_class *class)
{
	return class->tensor && class->tensor->has_statistics && class->tensor->share >= 1;
}

/* Adds ranks with a count above 0 to having, and ranks known to have a count of 0 to others. */
static void part(const struct answer_classes *classes,
		 int64_t (*count_of)(const struct answer_class *class), struct rankset *having,
		 struct rankset *others)
{
	for (size_t i = 0; i < classes->value_count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (count_of(class) > 0)
			rankset_unite(having, &class->ranks);
		else if (is_all_known(class))
			rankset_unite(others, &class->ranks);
	}
}

static int64_t count_nan(const struct answer_class *class)
{
	return class->tensor ? tensor_nan_count(class->tensor) : 0;
}

static int64_t count_infinite(const struct answer_class *class)
{
	return class->tensor ? tensor_infinity_count(class->tensor) : 0;
}

static const struct oddity {
	const char *name;
	int64_t (*count_of)(const struct answer_class *class);
} oddities[] = {
	{ "NaN", count_nan },
	{ "Inf", count_infinite },
};

/* Appends "12 NaN", or "NaN" if the ranks' counts differ. */
static void append_oddity(struct buffer *out, const struct telling *telling,
			  const struct oddity *oddity)
{
	int64_t same = 0;

	for (size_t i = 0; i < telling->classes->value_count; i++) {
		int64_t count = oddity->count_of(&telling->classes->items[i]);

		if (count > 0)
			same = same == 0 || same == count ? count : -1;
	}
	if (same > 0)
		buffer_printf(out, "%" PRId64 " ", same);
	buffer_append_string(out, oddity->name);
}

/* For ranks that all have NaN or infinities: appends whether their elements are equal. */
static void append_likeness(struct buffer *out, const struct telling *telling)
{
	const struct answer_classes *classes = telling->classes;

	if (classes->value_count > 1)
		buffer_append_string(out, "; the elements differ between the ranks");
	else if (classes->items[0].is_sure)
		buffer_append_string(out, "; the elements are the same on these ranks");
}

/*
 * Appends "rank 5 has 12 NaN in model.fc.weight; ranks 0-4,6-7 have none"; if several ranks have
 * NaN and no rank has none, appends whether their elements are equal. False: nothing was appended.
 */
static bool tell_oddity(struct buffer *out, const struct telling *telling,
			const struct oddity *oddity)
{
	struct rankset having = RANKSET_INIT;
	struct rankset others = RANKSET_INIT;
	bool is_any;

	part(telling->classes, oddity->count_of, &having, &others);
	/* If all ranks have NaN and a majority agrees, the ranks differ in other elements. */
	is_any = having.range_count > 0 && (others.range_count > 0 || !telling->majority ||
					    telling->classes->value_count == 1);
	if (is_any) {
		rankset_append_named(out, &having);
		buffer_append_string(out, rankset_count(&having) == 1 ? " has " : " have ");
		append_oddity(out, telling, oddity);
		buffer_append_string(out, " in ");
		answer_sentence_append_question(out, telling);
	}
	if (is_any && others.range_count > 0) {
		buffer_append_string(out, "; ");
		rankset_append_named(out, &others);
		buffer_append_string(out, rankset_count(&others) == 1 ? " has none" : " have none");
	} else if (is_any && rankset_count(&having) > 1) {
		append_likeness(out, telling);
	}
	rankset_clear(&having);
	rankset_clear(&others);
	return is_any;
}

/* Returns true if a sentence about NaN or infinities was written. */
static bool tell_nan(struct buffer *out, const struct telling *telling)
{
	for (size_t i = 0; i < ARRAY_LENGTH(oddities); i++)
		if (tell_oddity(out, telling, &oddities[i]))
			return true;
	return false;
}

/* Appends NaN or infinities that all ranks have, behind a sentence about another difference. */
static void append_common_nan(struct buffer *out, const struct telling *telling)
{
	for (size_t i = 0; i < ARRAY_LENGTH(oddities); i++) {
		struct rankset having = RANKSET_INIT;
		struct rankset others = RANKSET_INIT;

		part(telling->classes, oddities[i].count_of, &having, &others);
		if (having.range_count > 0 && others.range_count == 0) {
			buffer_append_string(out, "; ");
			rankset_append_named(out, &having);
			buffer_append_string(out, rankset_count(&having) == 1 ? " has " : " have ");
			append_oddity(out, telling, &oddities[i]);
		}
		rankset_clear(&having);
		rankset_clear(&others);
	}
}

static void answer_sentence_append_value(struct buffer *out, const struct answer_class *class,
					 int digits)
{
	struct buffer line = BUFFER_INIT;

	if (class->tensor && class->is_number) {
		tensor_text_append_short(out,
					 &(struct tensor_number){
						 .kind = TENSOR_NUMBER_REAL,
						 .real = class->number,
					 },
					 digits);
		return;
	}
	if (class->tensor) {
		buffer_append_string(out, "a tensor, ");
		tensortext_append_head(out, class->tensor);
		if (class->tensor->has_mask && class->tensor->has_statistics) {
			buffer_append_string(out, ", ");
			tensortext_append_masked(out, &class->tensor->statistics);
		}
		return;
	}
	text_append_line(&line, class->text, strcspn(class->text, "\n"));
	text_cut(out, line.data, VALUE_COLUMNS);
	buffer_clear(&line);
}

static bool has_numbers(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->value_count; i++)
		if (classes->items[i].is_number)
			return true;
	return false;
}

/*
 * Returns how many significant digits of the classes' numbers (of tensors with several elements:
 * of their norms) to print: the smallest of 6, 9, 12 and 15 with which the texts of all classes
 * differ. If 15 digits are too few, returns TENSOR_PRECISION_MAXIMUM if a class is a number, else
 * 6.
 */
static int answer_sentence_digits_of(const struct answer_classes *classes)
{
	static const int digits[] = { 6, 9, 12, 15 };

	for (size_t i = 0; i < ARRAY_LENGTH(digits); i++) {
		struct strmap *seen = strmap_new(NULL);
		bool is_told = true;

		for (size_t j = 0; j < classes->value_count; j++) {
			const struct answer_class *class = &classes->items[j];
			char text[40];

			if (!class->tensor || !class->has_level)
				continue;
			snprintf(text, sizeof(text), "%.*g", digits[i],
				 class->is_number ? class->number : class->level);
			is_told = is_told && !strmap_find(seen, text);
			strmap_put(seen, text, seen);
		}
		strmap_free(seen);
		if (is_told)
			return digits[i];
	}
	return has_numbers(classes) ? TENSOR_PRECISION_MAXIMUM : digits[0];
}

static bool has_elements(const struct answer_class *class)
{
	return class->tensor && !class->is_number;
}

/* Appends both values, unless both are tensors of several elements; false: nothing was appended. */
static bool tell_value(struct buffer *out, const struct telling *telling)
{
	int digits = answer_sentence_digits_of(telling->classes);

	if (has_elements(telling->class) && has_elements(telling->majority))
		return false;
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " is ");
	answer_sentence_append_value(out, telling->class, digits);
	append_but(out, telling);
	answer_sentence_append_value(out, telling->majority, digits);
	append_on_majority(out, telling);
	return true;
}

static bool tell_dtype(struct buffer *out, const struct telling *telling)
{
	const struct tensor *own = telling->class->tensor;
	const struct tensor *other = telling->majority->tensor;

	if (!own->dtype || !other->dtype || strcmp(own->dtype, other->dtype) == 0)
		return false;
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " has dtype ");
	text_escape(out, own->dtype, strlen(own->dtype));
	append_but(out, telling);
	text_escape(out, other->dtype, strlen(other->dtype));
	append_on_majority(out, telling);
	return true;
}

static bool tell_shape(struct buffer *out, const struct telling *telling)
{
	const struct tensor *own = telling->class->tensor;
	const struct tensor *other = telling->majority->tensor;

	if (tensor_has_same_shape(own, other))
		return false;
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " has shape ");
	tensortext_append_sizes(out, own->shape, own->dimension_count);
	append_but(out, telling);
	tensortext_append_sizes(out, other->shape, other->dimension_count);
	append_on_majority(out, telling);
	return true;
}

/* Appends both norms, unless they are printed alike. */
static void append_norms(struct buffer *out, double own, double other)
{
	char texts[2][32];

	snprintf(texts[0], sizeof(texts[0]), "%.6g", own);
	snprintf(texts[1], sizeof(texts[1]), "%.6g", other);
	if (strcmp(texts[0], texts[1]) != 0)
		buffer_printf(out, " (norm %s and %s)", texts[0], texts[1]);
}

/*
 * Appends that the elements differ; appends how they differ only if the comparison or the norms are
 * known. Always true.
 */
static bool tell_elements(struct buffer *out, const struct telling *telling)
{
	const struct difference *difference =
		difference_of(telling->answers, telling->class, telling->majority);
	const struct tensor *own = telling->class->tensor;
	const struct tensor *other = telling->majority->tensor;

	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " on ");
	rankset_append_named(out, &telling->class->ranks);
	buffer_append_string(out, " differs from ");
	rankset_append_named(out, &telling->majority->ranks);
	if (difference && difference->state == DIFFERENCE_DONE) {
		buffer_append_string(out, ": ");
		tensordiff_append(out, &difference->found);
	} else if (own->has_statistics && own->statistics.has_norm && other->has_statistics &&
		   other->statistics.has_norm) {
		append_norms(out, own->statistics.norm, other->statistics.norm);
	}
	return true;
}

static void answer_sentence_append_placement(struct buffer *out, const struct answer_class *class);
static bool tell_placement(struct buffer *out, const struct telling *telling);

/* The first function that returns true has written the sentence. */
static bool (*const tellers[])(struct buffer *out, const struct telling *telling) = {
	tell_value, tell_dtype, tell_placement, tell_shape, tell_nan, tell_elements,
};

/* Returns the first elementwise comparison of two ranks' tensors that is done; NULL: none. */
static const struct difference *first_difference(const struct answers *answers)
{
	for (size_t i = 0; i < answers->difference_count; i++)
		if (answers->differences[i].state == DIFFERENCE_DONE)
			return &answers->differences[i];
	return NULL;
}

/*
 * True if all classes are tensors of several elements with the same dtype and shape. If the norms
 * are known, an elementwise comparison, which says more than norms, must be known, too.
 */
static bool are_listed_alike(const struct answers *answers, const struct answer_classes *classes)
{
	const struct tensor *first = classes->items[0].tensor;
	bool is_told = first_difference(answers) != NULL;

	for (size_t i = 0; i < classes->value_count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (!has_elements(class) || (class->has_level && !is_told) ||
		    !class->tensor->dtype || !first->dtype ||
		    strcmp(class->tensor->dtype, first->dtype) != 0 ||
		    !tensor_has_same_shape(class->tensor, first))
			return false;
	}
	return true;
}

/* Appends " over ranks 0-3, each float32 [8]; rank 1 against rank 0: …" */
static void answer_sentence_append_alike(struct buffer *out, const struct telling *telling)
{
	const struct difference *difference = first_difference(telling->answers);
	struct rankset ranks = RANKSET_INIT;

	for (size_t i = 0; i < telling->classes->value_count; i++)
		rankset_unite(&ranks, &telling->classes->items[i].ranks);
	buffer_append_string(out, " over ");
	rankset_append_named(out, &ranks);
	rankset_clear(&ranks);
	buffer_append_string(out, ", each ");
	tensortext_append_head(out, telling->classes->items[0].tensor);
	if (!difference)
		return;
	buffer_printf(out, "; rank %d against rank %d: ", difference->rank, difference->against);
	tensordiff_append(out, &difference->found);
}

/* Without a majority: lists the classes, and calls no rank different. */
static void tell_wait_groups(struct buffer *out, const struct telling *telling)
{
	int digits = answer_sentence_digits_of(telling->classes);

	if (tell_nan(out, telling))
		return;
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " has ");
	append_counted(out, telling->classes->value_count, "value", "values");
	if (are_listed_alike(telling->answers, telling->classes)) {
		answer_sentence_append_alike(out, telling);
		return;
	}
	for (size_t i = 0; i < telling->classes->value_count; i++) {
		const struct answer_class *class = &telling->classes->items[i];

		if (i == 2 && telling->classes->value_count > 3) {
			buffer_printf(out, "; and %zu more", telling->classes->value_count - i);
			return;
		}
		buffer_append_string(out, i == 0 ? ": " : "; ");
		rankset_append_named(out, &class->ranks);
		buffer_append_char(out, ' ');
		answer_sentence_append_value(out, class, digits);
		if (class->tensor && class->tensor->placement) {
			buffer_append_string(out, ", ");
			answer_sentence_append_placement(out, class);
		}
		if (has_elements(class) && class->has_level)
			buffer_printf(out, ", norm %.*g", digits, class->level);
	}
}

static const struct answer_class *first_other(const struct answer_classes *classes,
					      const struct answer_class *majority)
{
	for (size_t i = 0; i < classes->value_count; i++)
		if (&classes->items[i] != majority && !classes->items[i].is_unknown)
			return &classes->items[i];
	return NULL;
}

/* Appends the other ranks that differ from the majority. */
static void append_more(struct buffer *out, const struct telling *telling)
{
	struct rankset more = RANKSET_INIT;

	for (size_t i = 0; i < telling->classes->value_count; i++) {
		const struct answer_class *class = &telling->classes->items[i];

		if (class != telling->class && class != telling->majority &&
		    count_nan(class) == 0 && !class->is_unknown)
			rankset_unite(&more, &class->ranks);
	}
	if (more.range_count > 0) {
		buffer_append_string(out, "; ");
		rankset_append_named(out, &more);
		buffer_append_string(out,
				     rankset_count(&more) == 1 ? " also differs" : " also differ");
	}
	rankset_clear(&more);
}

/* Appends "loss is nan on all 4 ranks". */
static void tell_same_number(struct buffer *out, const struct telling *telling)
{
	const struct answer_class *class = &telling->classes->items[0];
	size_t count = rankset_count(&class->ranks);

	answer_sentence_append_question(out, telling);
	buffer_printf(out, " is %s on ", answer_sentence_name_of(class->number));
	if (count < telling->answers->count) {
		rankset_append_named(out, &class->ranks);
		return;
	}
	buffer_append_string(out, "all ");
	text_count(out, count);
	buffer_append_string(out, " ranks");
}

static void tell_same(struct buffer *out, const struct telling *telling)
{
	const struct answer_class *class = &telling->classes->items[0];

	if (class->is_number && (class->has_nan || class->has_infinity)) {
		tell_same_number(out, telling);
		return;
	}
	if (tell_nan(out, telling))
		return;
	if (class->tensor && class->tensor->unread && !class->is_sure) {
		answer_sentence_append_question(out, telling);
		buffer_append_string(out, " was not compared: ");
		text_append_line(out, class->tensor->unread, strcspn(class->tensor->unread, "\n"));
		return;
	}
	answer_sentence_append_question(out, telling);
	if (class->merged > 1)
		buffer_printf(out, " is equal within %g on ", telling->answers->tolerance);
	else if (class->is_sure)
		buffer_append_string(out, " is the same on ");
	else if (!class->tensor->has_statistics)
		buffer_append_string(out,
				     ": elements were not read; shape and dtype are the same on ");
	else
		buffer_append_string(out, ": sampled elements are the same on ");
	rankset_append_named(out, &class->ranks);
}

static void append_answered(struct buffer *out, const struct answer_classes *classes)
{
	struct rankset ranks = RANKSET_INIT;

	for (size_t i = 0; i < classes->value_count; i++)
		rankset_unite(&ranks, &classes->items[i].ranks);
	rankset_append_named(out, &ranks);
	rankset_clear(&ranks);
}

static void answer_sentence_append_placement(struct buffer *out, const struct answer_class *class)
{
	const char *placement = class->tensor->placement;

	if (placement)
		text_append_line(out, placement, strlen(placement));
	else
		buffer_append_string(out, "not sharded");
}

static bool have_replicas(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->value_count; i++)
		if (rankset_count(&classes->items[i].ranks) > 1)
			return true;
	return false;
}

/* Appends which ranks have the same shard, but different elements; false: no such ranks. */
static bool tell_replicas(struct buffer *out, const struct telling *telling)
{
	const struct answer_classes *classes = telling->classes;

	for (size_t i = 0; i < classes->value_count; i++) {
		const struct tensor *one = classes->items[i].tensor;

		for (size_t j = 0; one && one->shard && j < i; j++) {
			const struct tensor *other = classes->items[j].tensor;

			if (!other || !other->shard || strcmp(one->shard, other->shard) != 0 ||
			    !one->placement || !other->placement ||
			    strcmp(one->placement, other->placement) != 0)
				continue;
			buffer_append_string(out, "replicas of one shard of ");
			answer_sentence_append_question(out, telling);
			buffer_append_string(out, " differ: ");
			rankset_append_named(out, &classes->items[j].ranks);
			buffer_append_string(out, " and ");
			rankset_append_named(out, &classes->items[i].ranks);
			return true;
		}
	}
	return false;
}

/* For shards of one tensor: appends the placement, and what was compared. */
static bool tell_shards(struct buffer *out, const struct telling *telling)
{
	const struct answer_class *first = &telling->classes->items[0];

	if (!first->tensor || !tensor_is_shard(first->tensor))
		return false;
	if (!answer_classes_are_shards(telling->classes))
		return tell_replicas(out, telling);
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " is sharded, ");
	answer_sentence_append_placement(out, first);
	buffer_append_string(out, ", on ");
	append_answered(out, telling->classes);
	if (!first->tensor->shard)
		buffer_append_string(out, "; elements are not compared");
	else if (have_replicas(telling->classes))
		buffer_append_string(out, "; replicas of a shard are the same");
	return true;
}

/* Appends "w is Shard(1) of [8, 4] on rank 1, but Shard(0) of [8, 4] on ranks 0,2"; false: the
 * placements are equal, and nothing was appended. */
static bool tell_placement(struct buffer *out, const struct telling *telling)
{
	const struct answer_class *own = telling->class;
	const struct answer_class *other = telling->majority;
	const char *one, *two;

	if (!has_elements(own) || !has_elements(other))
		return false;
	one = own->tensor->placement ? own->tensor->placement : "";
	two = other->tensor->placement ? other->tensor->placement : "";
	if (strcmp(one, two) == 0)
		return false;
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " is ");
	answer_sentence_append_placement(out, own);
	append_but(out, telling);
	answer_sentence_append_placement(out, other);
	append_on_majority(out, telling);
	return true;
}

/* Number of classes whose values were read; the values of these classes differ. */
static size_t count_known(const struct answer_classes *classes)
{
	size_t count = 0;

	for (size_t i = 0; i < classes->value_count; i++)
		count += !classes->items[i].is_unknown;
	return count;
}

/*
 * For values other than tensors: appends the difference in their parts, or that all parts are
 * equal, or that parts were not compared. False: nothing was appended.
 */
static bool tell_parts(struct buffer *out, const struct telling *telling)
{
	const struct answer_class *class = &telling->classes->items[0];
	const struct paramdiff *parts = telling->answers->parts;

	if (parts && paramdiff_is_finding(parts)) {
		paramdiff_append_sentence(out, parts);
		return true;
	}
	if (count_known(telling->classes) > 1 || !answer_has_parts(class->first))
		return false;
	if (telling->classes->value_count == 1 && class->is_sure) {
		paramdiff_append_sentence(out, parts);
		return true;
	}
	if (parts) {
		paramdiff_append_unread(out, parts);
		return true;
	}
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, " was not compared: only a summary of the value was read");
	return true;
}

/* For tensors that were not read: neither a difference nor equality is known. */
static void answer_sentence_tell_unread(struct buffer *out, const struct telling *telling)
{
	struct rankset unread = RANKSET_INIT;

	for (size_t i = 0; i < telling->classes->value_count; i++)
		if (telling->classes->items[i].is_unknown)
			rankset_unite(&unread, &telling->classes->items[i].ranks);
	answer_sentence_append_question(out, telling);
	buffer_append_string(out, ": shape and dtype are the same; elements were not read on ");
	rankset_append_named(out, &unread);
	rankset_clear(&unread);
}

void answer_classes_append_sentence(struct buffer *out, const struct answer_classes *classes,
				    const struct answers *answers)
{
	struct telling telling = {
		.answers = answers,
		.classes = classes,
		.majority = answer_classes_majority(classes),
	};

	if (answers->kind != ANSWERS_COMPARE || classes->value_count == 0 ||
	    answers_come(answers) < answers->count ||
	    (answers->parts && !answers->parts->is_over) ||
	    (classes->value_count == 1 && rankset_count(&classes->items[0].ranks) < 2))
		return;
	telling.class = first_other(classes, telling.majority);
	if (tell_parts(out, &telling) || tell_shards(out, &telling))
		return;
	if (classes->value_count > 1 && telling.majority && !telling.class) {
		answer_sentence_tell_unread(out, &telling);
		return;
	}
	if (classes->value_count == 1) {
		tell_same(out, &telling);
		return;
	}
	if (!telling.majority) {
		tell_wait_groups(out, &telling);
		return;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(tellers); i++)
		if (tellers[i](out, &telling))
			break;
	append_more(out, &telling);
	append_common_nan(out, &telling);
}

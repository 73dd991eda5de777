#include "model/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"

/* Less is not worth the words. */
#define DEVIATION_MINIMUM 0.0005
/* From here on with a factor, not per cent. */
#define DEVIATION_FACTOR 10.0

static void answer_clear(struct answer *answer)
{
	free(answer->text);
	free(answer->error);
	free(answer->value);
	free(answer->type);
	free(answer->output);
	free(answer->traceback);
}

void answers_clear(struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		answer_clear(&answers->items[i]);
	free(answers->items);
	free(answers->question);
	rankset_clear(&answers->ranks);
	*answers = (struct answers){ .question = NULL };
}

void answers_begin(struct answers *answers, const char *question,
		   enum answers_kind kind, double now)
{
	char *copy = xstrdup(question);

	answers_clear(answers);
	answers->question = copy;
	answers->kind = kind;
	answers->asked_at = now;
}

static struct answer *find(const struct answers *answers, int rank)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].rank == rank)
			return &answers->items[i];
	return NULL;
}

void answers_wait(struct answers *answers, int rank)
{
	if (find(answers, rank))
		return;
	ARRAY_GROW(answers->items, answers->count, answers->capacity);
	answers->items[answers->count++] = (struct answer){ .rank = rank };
	rankset_add(&answers->ranks, rank);
}

/* What was printed, and what came out; a statement has neither. */
static char *make_text(const struct answer *answer, const char *nothing)
{
	struct buffer out = BUFFER_INIT;

	if (answer->output)
		buffer_append_string(&out, answer->output);
	/* As an interpreter does: what printed has no value of its own. */
	if (answer->value && answer->value[0] != '\0' &&
	    (out.length == 0 || strcmp(answer->value, "None") != 0)) {
		if (out.length > 0 && out.data[out.length - 1] != '\n')
			buffer_append_char(&out, '\n');
		buffer_append_string(&out, answer->value);
	}
	if (out.length == 0)
		buffer_append_string(&out, nothing);
	return buffer_take(&out);
}

static size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t count_bytes(const struct answer *answer)
{
	return length_of(answer->text) + length_of(answer->error) +
	       length_of(answer->value) + length_of(answer->type) +
	       length_of(answer->output) + length_of(answer->traceback);
}

void answers_take_whole(struct answers *answers, const struct answer *answer)
{
	const char *nothing = answers_are_of_code(answers) ? "done" : "-";
	struct answer *own;

	answers_wait(answers, answer->rank);
	own = find(answers, answer->rank);
	answers->bytes -= count_bytes(own);
	answer_clear(own);
	*own = (struct answer){
		.rank = answer->rank,
		.has_come = true,
		.is_raised = answer->is_raised,
		.text = xstrdup_or_null(answer->text),
		.error = xstrdup_or_null(answer->error),
		.value = xstrdup_or_null(answer->value),
		.type = xstrdup_or_null(answer->type),
		.output = xstrdup_or_null(answer->output),
		.traceback = xstrdup_or_null(answer->traceback),
	};
	if (!own->text && !own->error)
		own->text = make_text(own, nothing);
	answers->bytes += count_bytes(own);
}

void answers_take(struct answers *answers, int rank, const char *text,
		  const char *error)
{
	struct answer answer = {
		.rank = rank,
		.text = xstrdup_or_null(text),
		.error = xstrdup_or_null(error),
	};

	answers_take_whole(answers, &answer);
	answer_clear(&answer);
}

bool answers_are_of_code(const struct answers *answers)
{
	return answers->kind >= ANSWERS_EVAL;
}

size_t answers_come(const struct answers *answers)
{
	size_t count = 0;

	for (size_t i = 0; i < answers->count; i++)
		count += answers->items[i].has_come;
	return count;
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF");
}

/*
 * The text without what no two processes agree on: "<Net object at 0x7f…>".
 * Blanks at its end say nothing.
 */
static char *make_key(const char *text)
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

/* "tensor(" "np.float64(": the value of what has one only is that number. */
static const char *skip_name(const char *text)
{
	const char *at = text;

	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
	       (at > text &&
		((*at >= '0' && *at <= '9') || *at == '_' || *at == '.')))
		at++;
	return at > text && *at == '(' ? at + 1 : text;
}

/* As Python writes a number: "-1.5e-05" "nan" "tensor(0.5, device='cpu')". */
static bool parse_number(const char *text, double *number)
{
	static const char *const words[] = { "nan", "inf", "-inf" };
	const char *at = skip_name(text);
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

static struct answer_class *add_class(struct answer_classes *classes,
				      size_t *capacity, char *owned_text,
				      const struct answer *answer)
{
	struct answer_class *class;
	bool is_failure = !answer->text;

	ARRAY_GROW(classes->items, classes->count, *capacity);
	class = &classes->items[classes->count++];
	*class = (struct answer_class){
		.text = owned_text,
		.first = answer,
		.is_failure = is_failure,
		.is_raised = answer->is_raised,
	};
	if (!is_failure)
		class->is_number = parse_number(owned_text, &class->number);
	return class;
}

/* What it printed before it raised, and what that was. */
static char *make_failure(const struct answer *answer)
{
	struct buffer out = BUFFER_INIT;

	if (answer->output)
		buffer_append_string(&out, answer->output);
	if (out.length > 0 && out.data[out.length - 1] != '\n')
		buffer_append_char(&out, '\n');
	buffer_append_string(&out, answer->error ? answer->error : "");
	return buffer_take(&out);
}

/* Numbers of classes are kept, as the array moves; one more, for 0 is none. */
static void add_answer(struct answer_classes *classes, size_t *capacity,
		       struct strmap *by_key, const struct answer *answer)
{
	bool is_failure = !answer->text;
	char *text = is_failure ? make_failure(answer) : NULL;
	char *key = make_key(is_failure ? text : answer->text);
	char *unique = xasprintf("%c%s", is_failure ? '!' : '=', key);
	uintptr_t number = (uintptr_t)strmap_find(by_key, unique);

	if (number == 0) {
		add_class(classes, capacity, key, answer);
		number = classes->count;
		strmap_put(by_key, unique, (void *)number);
	} else {
		free(key);
	}
	rankset_add(&classes->items[number - 1].ranks, answer->rank);
	free(unique);
	free(text);
}

static int compare_numbers(const void *a, const void *b)
{
	double one = *(const double *)a;
	double other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Of all ranks whose answer is a finite number; NAN: there are none. */
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

/* Of those that answered more than half say the same. */
static bool has_majority(const struct answer_classes *classes)
{
	size_t answered = 0;
	size_t most = 0;

	for (size_t i = 0; i < classes->count; i++) {
		size_t count = rankset_count(&classes->items[i].ranks);

		if (classes->items[i].is_failure)
			continue;
		answered += count;
		if (count > most)
			most = count;
	}
	return most * 2 > answered;
}

/* Among finite numbers, what is none; else, what most others are not. */
static void judge(struct answer_classes *classes, size_t ranks)
{
	double median = find_median(classes, ranks);
	bool is_told = has_majority(classes) && classes->value_count > 1;
	size_t answered = 0;

	for (size_t i = 0; i < classes->count; i++)
		if (!classes->items[i].is_failure)
			answered += rankset_count(&classes->items[i].ranks);
	for (size_t i = 0; i < classes->count; i++) {
		struct answer_class *class = &classes->items[i];
		size_t count = rankset_count(&class->ranks);
		bool is_finite = class->is_number && isfinite(class->number);

		if (class->is_failure)
			continue;
		class->is_odd = class->is_number && isnan(class->number);
		if (!isnan(median) && !is_finite)
			class->is_odd = true;
		if (isnan(median) && !class->is_number && is_told &&
		    count * 2 < answered)
			class->is_odd = true;
		if (!is_finite || isnan(median) || median == 0)
			continue;
		class->deviation = (class->number - median) / fabs(median);
		class->factor = class->number / median;
	}
}

/*
 * Ranks, process ids: whole numbers of which every rank has another. None is
 * far from the middle, as one that is too large would be.
 */
static bool has_own_numbers(const struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (class->is_failure)
			continue;
		if (rankset_count(&class->ranks) > 1 || !class->is_number ||
		    class->text[strspn(class->text, "-0123456789")] != '\0' ||
		    fabs(class->deviation) >= DEVIATION_FACTOR)
			return false;
	}
	return true;
}

static void drop_deviations(struct answer_classes *classes)
{
	for (size_t i = 0; i < classes->count; i++)
		classes->items[i].deviation = 0;
}

static int compare_sizes(const struct answer_class *a,
			 const struct answer_class *b)
{
	size_t one = rankset_count(&a->ranks);
	size_t other = rankset_count(&b->ranks);

	if (one != other)
		return one < other ? -1 : 1;
	return rankset_first(&a->ranks) - rankset_first(&b->ranks);
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
	if (a_far != b_far)
		return a_far > b_far ? -1 : 1;
	return compare_sizes(a, b);
}

void answer_classes_make(struct answer_classes *classes,
			 const struct answers *answers)
{
	struct strmap *by_key = strmap_new(NULL);
	size_t capacity = 0;

	*classes = (struct answer_classes){ .waiting = RANKSET_INIT };
	for (size_t i = 0; i < answers->count; i++) {
		const struct answer *answer = &answers->items[i];

		if (answer->has_come)
			add_answer(classes, &capacity, by_key, answer);
		else
			rankset_add(&classes->waiting, answer->rank);
	}
	for (size_t i = 0; i < classes->count; i++)
		classes->value_count += !classes->items[i].is_failure;
	judge(classes, answers->count);
	if (has_own_numbers(classes))
		drop_deviations(classes);
	if (classes->count > 0)
		qsort(classes->items, classes->count, sizeof(*classes->items),
		      compare_classes);
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

void answer_class_append_deviation(struct buffer *out,
				   const struct answer_class *class)
{
	double size = fabs(class->deviation);

	if (size < DEVIATION_MINIMUM || !isfinite(size))
		return;
	if (size >= DEVIATION_FACTOR)
		buffer_printf(out, "%.3g times the median", class->factor);
	else
		buffer_printf(out,
			      size < 0.1 ? "%+.1f %% of the median"
					 : "%+.0f %% of the median",
			      class->deviation * 100);
}

static const char *name_of(double number)
{
	if (isnan(number))
		return "nan";
	return number > 0 ? "inf" : "-inf";
}

static void append_counted(struct buffer *out, size_t count, const char *one,
			   const char *many)
{
	text_count(out, count);
	buffer_printf(out, " %s", count == 1 ? one : many);
}

/* Names those that are odd, as long as that is short. */
static void append_odd(struct buffer *out, const struct answer_class *class)
{
	bool is_one = rankset_count(&class->ranks) == 1;

	if (!class->is_odd || !class->is_number)
		return;
	buffer_append_string(out, is_one ? "; rank " : "; ranks ");
	rankset_append(out, &class->ranks);
	buffer_printf(out, is_one ? " is %s" : " are %s",
		      name_of(class->number));
}

void answer_classes_append_summary(struct buffer *out,
				   const struct answer_classes *classes,
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
	append_counted(
		out, classes->value_count,
		answers->kind == ANSWERS_BROADCAST ? "answer" : "value",
		answers->kind == ANSWERS_BROADCAST ? "answers" : "values");
	buffer_append_string(out, " over ");
	append_counted(out, come - rankset_count(&failed), "rank", "ranks");
	for (size_t i = 0; i < classes->value_count; i++)
		append_odd(out, &classes->items[i]);
	if (rankset_count(&failed) > 0) {
		buffer_append_string(out, rankset_count(&failed) == 1
						  ? "; no answer of rank "
						  : "; no answer of ranks ");
		rankset_append(out, &failed);
	}
	rankset_clear(&failed);
}

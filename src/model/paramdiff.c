#include "model/paramdiff.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "model/answers.h"
#include "model/paramdiff-private.h"

/* Limit of rows over all ranks; a real model has far fewer parameters. */
#define ROWS_MAXIMUM 1000000
/* Part of the error that nodes and agents send for a gradient that is None. */
#define NO_GRADIENT "has no gradient"

static void row_clear(struct paramdiff_row *row)
{
	for (size_t i = 0; i < row->class_count; i++) {
		rankset_clear(&row->classes[i].ranks);
		strmap_free(row->classes[i].shards);
		tensor_clear(&row->classes[i].tensor);
		free(row->classes[i].value);
		free(row->classes[i].error);
	}
	free(row->classes);
	free(row->name);
	rankset_clear(&row->missing);
}

void paramdiff_clear(struct paramdiff *diff)
{
	for (size_t i = 0; i < diff->row_count; i++)
		row_clear(&diff->rows[i]);
	free(diff->rows);
	for (size_t i = 0; i < diff->rank_count; i++) {
		free(diff->ranks[i].error);
		free(diff->ranks[i].rows);
	}
	free(diff->ranks);
	strmap_free(diff->by_name);
	rankset_clear(&diff->reordered);
	rankset_clear(&diff->nan_ranks);
	difference_clear(&diff->difference);
	free(diff->expression);
	*diff = (struct paramdiff){ .first = -1, .first_nan = -1 };
}

void paramdiff_begin(struct paramdiff *diff, const char *expression, bool is_of_gradients,
		     double now)
{
	char *copy = xstrdup(expression);

	paramdiff_clear(diff);
	diff->expression = copy;
	diff->is_of_gradients = is_of_gradients;
	diff->asked_at = now;
	diff->by_name = strmap_new(NULL);
}

size_t paramdiff_add_rank(struct paramdiff *diff, int rank)
{
	ARRAY_GROW(diff->ranks, diff->rank_count, diff->rank_capacity);
	diff->ranks[diff->rank_count] = (struct paramdiff_rank){
		.rank = rank,
		.total = -1,
	};
	return diff->rank_count++;
}

void paramdiff_fail(struct paramdiff *diff, size_t number, const char *why)
{
	struct paramdiff_rank *rank = &diff->ranks[number];

	free(rank->error);
	rank->error = xstrdup(why);
	rank->is_done = true;
}

/* Returns the index of the row with the parameter's name; adds a new row if there is none. */
static size_t paramdiff_find_row(struct paramdiff *diff, const struct tensor_parameter *parameter)
{
	const char *name = parameter->name ? parameter->name : "?";
	uintptr_t number = (uintptr_t)strmap_find(diff->by_name, name);

	if (number > 0)
		return number - 1;
	ARRAY_GROW(diff->rows, diff->row_count, diff->row_capacity);
	diff->rows[diff->row_count++] = (struct paramdiff_row){
		.name = xstrdup(name),
		.is_buffer = parameter->is_buffer,
	};
	number = diff->row_count;
	strmap_put(diff->by_name, name, (void *)number);
	return number - 1;
}

static bool paramdiff_is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool paramdiff_is_none(const struct paramdiff_class *class)
{
	return class->error && strstr(class->error, NO_GRADIENT) != NULL;
}

static bool are_alike(const struct tensor *a, const struct tensor *b)
{
	if (!paramdiff_is_same_text(a->dtype, b->dtype) ||
	    !paramdiff_is_same_text(a->placement, b->placement))
		return false;
	return tensor_has_same_shape(a, b) && a->has_hash == b->has_hash &&
	       (!a->has_hash || a->hash == b->hash);
}

static bool paramdiff_has_nan(const struct tensor *tensor)
{
	return tensor_nan_count(tensor) > 0 || tensor_infinity_count(tensor) > 0;
}

/* Returns the hash + 1 that the class has for the tensor's shard; 0: none. */
static uintptr_t hash_of(const struct paramdiff_class *class, const struct tensor *tensor)
{
	return class->shards && tensor->shard ? (uintptr_t)strmap_find(class->shards, tensor->shard)
					      : 0;
}

/* True if tensor may belong to the class's sharded tensor: replicas of a shard must be equal. */
static bool may_be_together(const struct paramdiff_class *class, const struct tensor *tensor)
{
	uintptr_t hash = hash_of(class, tensor);

	return paramdiff_is_same_text(class->tensor.dtype, tensor->dtype) &&
	       paramdiff_is_same_text(class->tensor.placement, tensor->placement) &&
	       class->tensor.has_hash == tensor->has_hash &&
	       paramdiff_has_nan(&class->tensor) == paramdiff_has_nan(tensor) &&
	       (hash == 0 || hash == (uintptr_t)tensor->hash + 1);
}

static void add_shard(struct paramdiff_class *class, struct tensor *tensor, bool is_first)
{
	struct tensor_statistics *sums = &class->tensor.statistics;

	if (!class->shards)
		class->shards = strmap_new(NULL);
	if (tensor->shard && tensor->has_hash && hash_of(class, tensor) == 0)
		strmap_put(class->shards, tensor->shard, (void *)((uintptr_t)tensor->hash + 1));
	if (is_first)
		return;
	sums->nan_count += tensor_nan_count(tensor);
	sums->infinity_count += tensor_infinity_count(tensor);
	class->tensor.element_count += tensor->element_count;
}

static struct paramdiff_class *find_class(struct paramdiff_row *row,
					  const struct tensor_parameter *parameter)
{
	for (size_t i = 0; i < row->class_count; i++) {
		struct paramdiff_class *class = &row->classes[i];

		bool is_none = parameter->error && strstr(parameter->error, NO_GRADIENT);

		if (is_none && paramdiff_is_none(class))
			return class;
		if (tensor_is_shard(&parameter->tensor)) {
			if (may_be_together(class, &parameter->tensor))
				return class;
			continue;
		}
		if (paramdiff_is_same_text(class->error, parameter->error) &&
		    paramdiff_is_same_text(class->value, parameter->value) &&
		    are_alike(&class->tensor, &parameter->tensor))
			return class;
	}
	return NULL;
}

static void add_to_row(struct paramdiff_row *row, int rank, struct tensor_parameter *parameter)
{
	struct paramdiff_class *class = find_class(row, parameter);
	bool is_shard = tensor_is_shard(&parameter->tensor);
	bool is_first = !class;

	if (!class) {
		ARRAY_GROW(row->classes, row->class_count, row->class_capacity);
		class = &row->classes[row->class_count++];
		*class = (struct paramdiff_class){
			.tensor = parameter->tensor,
			.value = parameter->value,
			.error = parameter->error,
		};
		tensor_init(&parameter->tensor);
		parameter->value = NULL;
		parameter->error = NULL;
	}
	if (is_shard)
		add_shard(class, is_first ? &class->tensor : &parameter->tensor, is_first);
	rankset_add(&class->ranks, rank);
}

void paramdiff_take(struct paramdiff *diff, size_t number, struct tensor_parameters *page)
{
	struct paramdiff_rank *rank = &diff->ranks[number];

	if (page->total >= 0)
		rank->total = page->total;
	for (size_t i = 0; i < page->count; i++) {
		size_t row;

		if (diff->row_count >= ROWS_MAXIMUM)
			break;
		row = paramdiff_find_row(diff, &page->items[i]);
		add_to_row(&diff->rows[row], rank->rank, &page->items[i]);
		ARRAY_GROW(rank->rows, rank->count, rank->capacity);
		rank->rows[rank->count++] = (uint32_t)row;
	}
	rank->is_done = page->count == 0 || rank->total < 0 ||
			(int64_t)rank->count >= rank->total || rank->count >= ROWS_MAXIMUM ||
			diff->row_count >= ROWS_MAXIMUM;
	tensor_parameters_clear(page);
}

const struct paramdiff_rank *paramdiff_find_rank(const struct paramdiff *diff, int rank)
{
	for (size_t i = 0; i < diff->rank_count; i++)
		if (diff->ranks[i].rank == rank)
			return &diff->ranks[i];
	return NULL;
}

void paramdiff_progress(const struct paramdiff *diff, int64_t *done, int64_t *total)
{
	*done = 0;
	*total = 0;
	for (size_t i = 0; i < diff->rank_count; i++) {
		const struct paramdiff_rank *rank = &diff->ranks[i];

		*done += (int64_t)rank->count;
		*total += rank->total > 0 ? rank->total : 0;
	}
}

static const char *paramdiff_text_of(const struct paramdiff_class *class)
{
	if (paramdiff_is_none(class))
		return "None";
	if (class->error)
		return NULL;
	return class->value ? class->value : "a tensor";
}

static void paramdiff_add_answer(struct answers *answers, int rank,
				 const struct paramdiff_class *class)
{
	bool is_none = paramdiff_is_none(class);
	const struct answer answer = {
		.rank = rank,
		.text = (char *)paramdiff_text_of(class),
		.error = is_none ? NULL : class->error,
		.tensor = class->tensor.dtype ? (struct tensor *)&class->tensor : NULL,
	};

	answers_take_whole(answers, &answer);
}

void paramdiff_to_answers(struct answers *answers, const struct paramdiff *diff,
			  const struct paramdiff_row *row)
{
	char *name = xasprintf("%s%s", row->name, diff->is_of_gradients ? ".grad" : "");
	int rank = -1;

	answers_begin(answers, name, ANSWERS_COMPARE, diff->asked_at);
	free(name);
	for (size_t i = 0; i < row->class_count; i++)
		while ((rank = rankset_next(&row->classes[i].ranks, rank)) >= 0)
			paramdiff_add_answer(answers, rank, &row->classes[i]);
	while ((rank = rankset_next(&row->missing, rank)) >= 0)
		answers_take(answers, rank, "missing", NULL);
	if (diff->has_difference && diff->first >= 0 && row == &diff->rows[diff->first])
		paramdiff_copy_difference(answers, &diff->difference);
}

#define DIGITS "0123456789"

static bool is_identifier(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return length > 0 && !isdigit((unsigned char)name[0]);
}

/* Length of the quoted string that text begins with ("'a'.b"), with its quotes; 0: none. */
static size_t string_length(const char *text)
{
	char quote = *text;

	if (quote != '\'' && quote != '"')
		return 0;
	for (size_t i = 1; text[i] != '\0' && text[i] != '\n'; i++) {
		if (text[i] == quote)
			return i + 1;
		if (text[i] == '\\' && text[++i] == '\0')
			return 0;
	}
	return 0;
}

/* Length of the bracket that name begins with ("['fc.weight'].bias"); 0: no bracket, or neither
 * a number nor a string in it. */
static size_t item_length(const char *name)
{
	size_t length;

	if (name[0] != '[')
		return 0;
	length = strspn(name + 1, DIGITS);
	if (length == 0)
		length = string_length(name + 1);
	return length > 0 && name[1 + length] == ']' ? length + 2 : 0;
}

static void parampath_append_string(struct buffer *out, const char *text, size_t length)
{
	buffer_append_char(out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < ' ') {
			buffer_printf(out, "\\x%02x", byte);
			continue;
		}
		if (byte == '"' || byte == '\\')
			buffer_append_char(out, '\\');
		buffer_append_char(out, text[i]);
	}
	buffer_append_char(out, '"');
}

/*
 * Appends the Python path of a parameter: .layers._modules["0"].weight inside a module. Brackets at
 * the beginning of name are items of other objects and stay as they are.
 */
static void append_path(struct buffer *out, const char *name)
{
	size_t item;

	while ((item = item_length(name)) > 0) {
		buffer_append(out, name, item);
		name += item + (name[item] == '.');
	}
	while (*name != '\0') {
		size_t length = strcspn(name, ".");
		bool is_last = name[length] == '\0';

		if (is_identifier(name, length)) {
			buffer_append_char(out, '.');
			buffer_append(out, name, length);
		} else {
			buffer_append_string(out, is_last ? "._parameters[" : "._modules[");
			parampath_append_string(out, name, length);
			buffer_append_char(out, ']');
		}
		name += length + !is_last;
	}
}

char *parampath_make(const char *expression, const char *name, int way, bool is_gradient)
{
	bool is_index = name[0] != '\0' && name[strspn(name, DIGITS)] == '\0';
	struct buffer out = BUFFER_INIT;

	if (way != 0 && way != 1)
		return NULL;
	buffer_append_string(&out, expression);
	if (way == 0 && !is_index) {
		append_path(&out, name);
	} else {
		buffer_append_char(&out, '[');
		if (way == 0)
			buffer_append_string(&out, name);
		else
			parampath_append_string(&out, name, strlen(name));
		buffer_append_char(&out, ']');
	}
	if (is_gradient)
		buffer_append_string(&out, ".grad");
	return buffer_take(&out);
}

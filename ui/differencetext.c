#include "ui/differencetext.h"

#include <stdbool.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/answers.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"

static const char *dtype_of(const struct tensor *tensor)
{
	return tensor->dtype != NULL ? tensor->dtype : "?";
}

/* Appends how shape and dtype differ; false: both are equal, so the elements are compared. */
static bool differencetext_append_kind(struct buffer *out, const struct tensor *one,
				       const struct tensor *other)
{
	bool same = tensor_has_same_shape(one, other);

	if (!same) {
		buffer_append_string(out, "its shape is ");
		tensortext_append_sizes(out, one->shape, one->dimension_count);
		buffer_append_string(out, ", not ");
		tensortext_append_sizes(out, other->shape, other->dimension_count);
	}
	if (strcmp(dtype_of(one), dtype_of(other)) == 0)
		return !same;
	buffer_append_string(out, same ? "it is of " : ", and it is of ");
	text_escape(out, dtype_of(one), strlen(dtype_of(one)));
	buffer_append_string(out, ", not ");
	text_escape(out, dtype_of(other), strlen(dtype_of(other)));
	return true;
}

void differencetext_append_found(struct buffer *out, const struct difference *difference)
{
	switch (difference->state) {
	case DIFFERENCE_READING:
		buffer_append_string(out, "both are read");
		if (difference->total <= 0)
			break;
		buffer_append_string(out, ", ");
		text_size(out, (uint64_t)difference->done);
		buffer_append_string(out, " of ");
		text_size(out, (uint64_t)difference->total);
		break;
	case DIFFERENCE_DONE:
		tensordiff_append(out, &difference->found);
		break;
	case DIFFERENCE_FAILED:
		buffer_append_string(out, difference->error != NULL ? difference->error
								    : "it is not known");
		break;
	}
}

static void differencetext_append_names(struct buffer *out, const struct answer_class *class,
					const struct answer_class *other, bool is_majority)
{
	rankset_append_named(out, &class->ranks);
	buffer_append_string(out, " against ");
	if (is_majority)
		buffer_append_string(out, "the majority");
	else
		rankset_append_named(out, &other->ranks);
	buffer_append_string(out, ": ");
}

void differencetext_append(struct buffer *out, const struct answers *answers,
			   const struct answer_classes *classes, const struct answer_class *class)
{
	const struct difference *difference;
	const struct answer_class *other;

	other = answer_classes_reference(classes);
	if (class->tensor == NULL || other == NULL || other == class)
		return;
	differencetext_append_names(out, class, other, other == answer_classes_majority(classes));
	difference = difference_of(answers, class, other);
	if (differencetext_append_kind(out, class->tensor, other->tensor))
		return;
	if (difference != NULL)
		differencetext_append_found(out, difference);
	else if (class->tensor->unread != NULL)
		buffer_append_string(out, class->tensor->unread);
	else if (other->tensor->unread != NULL)
		buffer_append_string(out, other->tensor->unread);
	else
		buffer_append_string(out, "Enter compares their elements");
}

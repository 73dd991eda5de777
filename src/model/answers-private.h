/*
 * answers-private: what the files of answer_classes share.
 */
#ifndef MODEL_ANSWERS_PRIVATE_H
#define MODEL_ANSWERS_PRIVATE_H

#include "model/answers.h"

/* How many ranks answered, and did not fail. */
size_t answer_classes_answered(const struct answer_classes *classes);
/*
 * Sets what is odd, unknown or far from the median among the answers of so
 * many ranks. The classes are whole by then, value_count is set.
 */
void answer_classes_judge(struct answer_classes *classes, size_t ranks);

#endif

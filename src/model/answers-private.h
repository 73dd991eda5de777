/*
 * answers-private: functions that the answer-*.c files share.
 */
#ifndef MODEL_ANSWERS_PRIVATE_H
#define MODEL_ANSWERS_PRIVATE_H

#include "model/answers.h"

/* Number of ranks that answered without a failure. */
size_t answer_classes_answered(const struct answer_classes *classes);
/*
 * Sets is_odd, is_unknown, deviation and factor of all classes; ranks is the number of
 * ranks asked. The classes must be complete and value_count set.
 */
void answer_classes_judge(struct answer_classes *classes, size_t ranks);

#endif

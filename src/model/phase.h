/*
 * phase: what a training framework does where all of the user's code is in a call of its trainer:
 * evaluation, a checkpoint, logging, a callback.
 */
#ifndef MODEL_PHASE_H
#define MODEL_PHASE_H

struct buffer;
struct frame;
struct stack;

/*
 * Appends ", checkpoint by ModelCheckpoint" or ", evaluation", by the functions of Lightning,
 * Transformers, accelerate and DeepSpeed that `place`, a frame of the stack, has called; nothing if
 * none of them is known.
 */
void phase_append(struct buffer *out, const struct stack *stack, const struct frame *place);

#endif

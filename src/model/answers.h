/*
 * answers: the ranks' answers to one question, filled in as they arrive, and classes of equal
 * answers: "0-2,4-7: 0.0312 · 3: nan". Answers are equal if their texts are equal, apart from
 * objects' addresses; for a number the deviation from the median is computed. Tensors are equal if
 * dtype, shape and hash are equal. With a tolerance, numbers that differ by at most the tolerance
 * are one class, and so are tensors whose elementwise difference is known to be within the
 * tolerance. A value that its text does not show in full is compared by its parts, the tensors and
 * plain values in it; values that were not compared are not called equal.
 */
#ifndef MODEL_ANSWERS_H
#define MODEL_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"

struct buffer;
struct difference;
struct paramdiff;
struct tensor;

enum answers_kind {
	ANSWERS_COMPARE,      /* an expression */
	ANSWERS_BROADCAST,    /* a line for the debuggers' prompts */
	ANSWERS_EVAL,	      /* code to run, of one line or several */
	ANSWERS_EXECUTE,      /* statements that the agent runs while the program keeps running */
	ANSWERS_EXECUTE_FILE, /* the question is the path of a file of statements */
};

struct answer {
	int rank;
	bool has_come;
	char *text;  /* NULL: the rank failed, or has not answered */
	char *error; /* a sentence; NULL: no failure */
	/* Further parts of the answer; NULL: not known. */
	char *value; /* the value alone, without printed output */
	char *type;
	char *output;
	char *traceback; /* of an exception that the question raised */
	bool is_raised;	 /* if error is set: true: the code raised an exception; false: the code was
			  * not run */
	struct tensor *tensor; /* NULL: the value is not a tensor */
	uint64_t address;      /* address of the object; 0: unknown */
	bool is_of_fields;     /* probetui has made text from the object's fields, without running a
				* __repr__ of the program */
};

struct answers {
	char *question; /* NULL: no question */
	enum answers_kind kind;
	uint64_t number;      /* serial number of the question */
	double asked_at;      /* session time */
	struct rankset ranks; /* ranks that were asked */
	size_t bytes;	      /* size of all texts of the answers */
	struct answer *items;
	size_t count;
	size_t capacity;
	double tolerance; /* 0: only equal answers are one class */
	/*
	 * The parts of values that their texts do not show in full; NULL: no such values, or not
	 * requested.
	 */
	struct paramdiff *parts;
	struct difference *differences; /* model/tensordiff.h: comparisons of two ranks' tensors */
	size_t difference_count;
	size_t difference_capacity;
};

/* Removes question and answers; answers may be zeroed. */
void answers_clear(struct answers *answers);
/* Starts a new question; answers_wait() adds the ranks. */
void answers_begin(struct answers *answers, const char *question, enum answers_kind kind,
		   double now);
/* Adds a rank that was asked. */
void answers_wait(struct answers *answers, int rank);
/* Takes a rank's answer; text NULL: the rank failed with error. */
void answers_take(struct answers *answers, int rank, const char *text, const char *error);
/*
 * Copies all fields of an answer. If text and error are NULL, text becomes the printed
 * output followed by the value.
 */
void answers_take_whole(struct answers *answers, const struct answer *answer);
/* Returns a borrowed answer; NULL: the rank was not asked. */
const struct answer *answers_find(const struct answers *answers, int rank);
/* True if the question is code that was run. */
bool answers_are_of_code(const struct answers *answers);
/* True if the text does not show the whole value, and the value is not a tensor. */
bool answer_has_parts(const struct answer *answer);
/* Number of answers that have arrived. */
size_t answers_come(const struct answers *answers);

/* A deviation of at least this factor is printed as a factor, a smaller one in per cent. */
#define ANSWER_FACTOR 10.0

struct answer_class {
	struct rankset ranks;
	char *text;		    /* the value's text, or the error of a failed class */
	const struct answer *first; /* an answer of the class, borrowed from struct answers */
	bool is_failure;
	bool is_raised; /* is_failure, because the code raised an exception */
	/*
	 * The class is an outlier: not a finite number although other classes are, a tensor with
	 * NaN or an infinity, or different from the majority.
	 */
	bool is_odd;
	bool is_number;
	double number;
	double deviation; /* from the median, relative: 0.11: 11 % more; 0: none, or unknown */
	double factor;	  /* number / median; only set with a deviation */
	const struct tensor *tensor; /* tensor of first, borrowed; NULL: not a tensor */
	/*
	 * The class may be equal to another class: its tensor was not read (and another class has
	 * the same dtype and shape), or its object was not read.
	 */
	bool is_unknown;
	bool has_nan;	   /* a NaN among the elements, or the number is NaN */
	bool has_infinity; /* an infinity among a tensor's elements */
	/* The ranks of the class are known to have equal values; false for a tensor that was not
	 * read in full, and for an object whose parts were not compared. */
	bool is_sure;
	size_t merged; /* number of different values in the class: all are within the tolerance */
	/* Value for a bar chart over the ranks: the number, or a tensor's norm. */
	bool has_level;
	double level;
};

struct answer_classes {
	/* Outliers first, then by distance from the median, failures last. */
	struct answer_class *items;
	size_t count;
	size_t value_count;	/* number of classes with a value (no failures) */
	struct rankset waiting; /* ranks that have not answered yet */
};

/* Fills *classes (uninitialised); clear it afterwards. Answers and tensors are borrowed. */
void answer_classes_make(struct answer_classes *classes, const struct answers *answers);
void answer_classes_clear(struct answer_classes *classes);
/* The class of more than half of the ranks with a value; NULL: no majority. */
const struct answer_class *answer_classes_majority(const struct answer_classes *classes);
/*
 * Returns the class that other classes of tensors are compared with, borrowed: the majority's
 * class, else the largest; of equally large classes one without NaN, then the one with the lowest
 * rank. NULL: no rank answered with a tensor.
 */
const struct answer_class *answer_classes_reference(const struct answer_classes *classes);
/*
 * True if a value is NaN, or a tensor has NaN or an infinity. This is a finding even if all ranks
 * agree.
 */
bool answer_classes_have_nan(const struct answer_classes *classes);
/*
 * True if all values are shards of one tensor with equal placement, so that differences
 * are expected.
 */
bool answer_classes_are_shards(const struct answer_classes *classes);
/* Returns the borrowed class of a rank; NULL: the rank has not answered. */
const struct answer_class *answer_classes_find(const struct answer_classes *classes, int rank);
/* Appends "+11 % of the median"; nothing if the deviation is 0 or very small. */
void answer_class_append_deviation(struct buffer *out, const struct answer_class *class);
/* Appends "3 values over 8 ranks; rank 5 is nan" or "6 of 8 answered". */
void answer_classes_append_summary(struct buffer *out, const struct answer_classes *classes,
				   const struct answers *answers);
/*
 * Appends which rank differs, and how: "rank 5 has 12 NaN in model.fc.weight; ranks 0-4,6-7 have
 * none". Appends nothing before all ranks have answered, or if fewer than two ranks have.
 */
void answer_classes_append_sentence(struct buffer *out, const struct answer_classes *classes,
				    const struct answers *answers);

/*
 * eval_history: code that was sent to ranks, oldest first, with the ranks' answers. If there are
 * more than EVAL_HISTORY_MAXIMUM entries or EVAL_HISTORY_BYTES of text, the oldest entries are
 * dropped.
 */

#define EVAL_HISTORY_MAXIMUM 200
#define EVAL_HISTORY_BYTES ((size_t)64 << 20)

/* A zeroed struct is an empty history. */
struct eval_history {
	struct answers *items;
	size_t count;
	size_t capacity;
};

void eval_history_clear(struct eval_history *eval_history);
/* Appends an entry without ranks and returns it, borrowed until the next call. */
struct answers *eval_history_add(struct eval_history *eval_history, const char *code,
				 enum answers_kind kind, uint64_t number, double now);
/* Returns the entry with this number, borrowed; NULL: there is none, or it was dropped. */
struct answers *eval_history_find(const struct eval_history *eval_history, uint64_t number);

#endif

/*
 * answers: what ranks answered to one question, as it comes, and equal answers
 * together: "0-2,4-7: 0.0312 · 3: nan". Answers are equal when their text is,
 * addresses of objects apart; as numbers they are told by how far they are
 * from the median. Tensors are equal when dtype, shape and hash are. Within a
 * tolerance numbers are one class, and tensors whose difference is known. What
 * a text does not say all of is compared by its parts, the tensors and plain
 * values in it; what was not compared is not called the same.
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
	ANSWERS_EXECUTE,      /* the same, beside the program's names */
	ANSWERS_EXECUTE_FILE, /* the path of a file with it */
};

struct answer {
	int rank;
	bool has_come;
	char *text;  /* NULL: it failed, or has not come */
	char *error; /* a sentence; NULL: it did not fail */
	/* What of it is known besides; NULL: nothing. */
	char *value; /* without what it printed */
	char *type;
	char *output;
	char *traceback;       /* what was asked raised */
	bool is_raised;	       /* that is why it failed; else it was not done */
	struct tensor *tensor; /* what is told of it; NULL: it is none */
	uint64_t address;      /* of the object; 0: not known */
	bool is_of_fields;     /* the text is no __repr__ of the program's */
};

struct answers {
	char *question; /* NULL: nothing was asked */
	enum answers_kind kind;
	uint64_t number;      /* of the question, each its own */
	double asked_at;      /* session time */
	struct rankset ranks; /* that the question was for */
	size_t bytes;	      /* of all texts that have come */
	struct answer *items;
	size_t count;
	size_t capacity;
	double tolerance; /* 0: what is equal is the same */
	/* What is in those answers whose texts do not say all; NULL: there are
	 * none, or it was not asked for. */
	struct paramdiff *parts;
	struct difference *differences; /* model/difference.h: of two each */
	size_t difference_count;
	size_t difference_capacity;
};

/* Forgets all: nothing was asked. All zero is the same. */
void answers_clear(struct answers *answers);
/* Asks something else, of no rank yet. */
void answers_begin(struct answers *answers, const char *question, enum answers_kind kind,
		   double now);
/* This rank was asked. */
void answers_wait(struct answers *answers, int rank);
/* What it answered; or text NULL, and why it did not. */
void answers_take(struct answers *answers, int rank, const char *text, const char *error);
/*
 * The same with all that it said. A text is made of what it printed and its
 * value where it gave none and did not fail.
 */
void answers_take_whole(struct answers *answers, const struct answer *answer);
/* Lends; NULL: the rank was not asked. */
const struct answer *answers_find(const struct answers *answers, int rank);
/* They are to code that was run. */
bool answers_are_of_code(const struct answers *answers);
/* Its text does not say all of the value, and it is no tensor. */
bool answer_has_parts(const struct answer *answer);
/* How many have come. */
size_t answers_come(const struct answers *answers);

/* A deviation is told as a factor from here on, not per cent. */
#define ANSWER_FACTOR 10.0

struct answer_class {
	struct rankset ranks;
	char *text;		    /* or why these did not answer */
	const struct answer *first; /* lent by the answers */
	bool is_failure;
	bool is_raised; /* a failure: what was asked raised */
	/* No number among numbers, NaN or an infinity in a tensor; or unlike
	 * most others. */
	bool is_odd;
	bool is_number;
	double number;
	double deviation;	     /* of the median, 0.11: 11 % more; 0: none to tell */
	double factor;		     /* so many times the median, if there is a deviation */
	const struct tensor *tensor; /* of the first; NULL: it is none */
	/* A tensor of which nothing was read, beside others of its dtype and
	 * shape: it may be equal to any of them, or to none. */
	bool is_unknown;
	bool has_nan;	   /* among its elements, or it is that number */
	bool has_infinity; /* among the elements of a tensor */
	/* Its ranks are known to have the same: a tensor of which only a sample
	 * was read, or nothing, is not, nor an object that was not compared. */
	bool is_sure;
	size_t merged; /* so many values that are within the tolerance */
	/* For a small picture over the ranks: the number, a tensor's norm. */
	bool has_level;
	double level;
};

struct answer_classes {
	/* The odd first, then the farthest from the median, failures last. */
	struct answer_class *items;
	size_t count;
	size_t value_count;	/* those that are no failures */
	struct rankset waiting; /* ranks whose answer has not come */
};

void answer_classes_make(struct answer_classes *classes, const struct answers *answers);
void answer_classes_clear(struct answer_classes *classes);
/* The class of more than half of those that answered; NULL: there is none. */
const struct answer_class *answer_classes_majority(const struct answer_classes *classes);
/*
 * Lends the tensors that the others are held against: the majority's, or of
 * the largest class, of those that are equally large of the lowest rank; what
 * has NaN only where all have. NULL: no rank answered with a tensor.
 */
const struct answer_class *answer_classes_reference(const struct answer_classes *classes);
/* Some value is NaN, or a tensor has NaN or an infinity: a finding, also where
 * all ranks have the same. */
bool answer_classes_have_nan(const struct answer_classes *classes);
/* All are shards of one tensor, placed alike, each another one or the same:
 * they differ by right. */
bool answer_classes_are_shards(const struct answer_classes *classes);
/* Lends the class that a rank is in; NULL: it has not answered. */
const struct answer_class *answer_classes_find(const struct answer_classes *classes, int rank);
/* Appends "+11 % of the median"; nothing where that says nothing. */
void answer_class_append_deviation(struct buffer *out, const struct answer_class *class);
/* Appends "3 values over 8 ranks; rank 5 is nan" or "6 of 8 answered". */
void answer_classes_append_summary(struct buffer *out, const struct answer_classes *classes,
				   const struct answers *answers);
/*
 * Appends which rank differs, and how: "rank 5 has 12 NaN in model.fc.weight;
 * ranks 0-4,6-7 have none". Nothing where fewer than two answered, or not all
 * have.
 */
void answer_classes_append_sentence(struct buffer *out, const struct answer_classes *classes,
				    const struct answers *answers);

#endif

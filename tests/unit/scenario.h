/*
 * scenario: text files of tests: which stacks and events come in, and what is found.
 *
 *	# a comment
 *	let waits = recv torch/rpc.py:5 < train train.py:$
 *
 *	given two ranks
 *		ranks 2
 *
 *	a rank that waits is found
 *		use two ranks
 *		0-1: @waits(17)
 *		look
 *		finding = hung
 *
 * A line without indentation is the name of a scenario, and the lines with a tab below are
 * the scenario; two tabs, or a tab below `let`, continue the line before. "@waits(17)" is
 * replaced by the text of `let waits`, with 17 for each "$"; "\e" is the character ESC.
 * `use NAME` is replaced by the lines of `given NAME`, which stand above. The head comment
 * of test-scenarios.c describes the other lines.
 */
#ifndef TESTS_UNIT_SCENARIO_H
#define TESTS_UNIT_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct strmap;

struct scenario_line {
	char *text;
	int number; /* in the file */
};

struct scenario {
	const char *path; /* the file's; borrowed */
	char *name;
	bool is_given; /* only the lines of others */
	struct scenario_line *lines;
	size_t count, capacity;
};

struct scenario_file {
	char *path;
	struct scenario *scenarios;
	size_t count, capacity;
	struct strmap *lets; /* name to text */
};

/* Fills *file, to be cleared also on failure. -1 and *error: "PATH:LINE: …". */
int scenario_file_read(struct scenario_file *file, const char *path, struct error *error);
void scenario_file_clear(struct scenario_file *file);

#endif

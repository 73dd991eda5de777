/*
 * finding: what a session shows, as text. A line of a scenario names the finding and has the
 * expected text: "stops = 1", "finding = hung 3"; finding.c has the table of all. Nothing
 * found is "none". In place of "=" stand "<" and ">=", of numbers, and "has" and "lacks",
 * of a part of the text.
 */
#ifndef TESTS_UNIT_FINDING_H
#define TESTS_UNIT_FINDING_H

struct buffer;
struct scene;

enum finding_result {
	FINDING_SAME,
	FINDING_OTHER,
	FINDING_NO_NAME, /* the line names no finding */
};

/* Compares; appends what was found. */
enum finding_result finding_check(struct scene *scene, const char *line, struct buffer *found);

#endif

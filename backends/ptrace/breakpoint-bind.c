/*
 * breakpoint-bind: finds the places of a breakpoint, that is the code units at which its line or
 * its function begins, or the reason why there are none.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/bytecode.h"
#include "backends/cpython/code-file.h"
#include "backends/cpython/code-search.h"
#include "backends/ptrace/breakpoint-table-private.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"

/* PLACES_MAXIMUM: places of one breakpoint; UNITS_MAXIMUM: units of one place. */
#define PLACES_MAXIMUM 1000u
#define UNITS_MAXIMUM 200u

/* The result of one search for code. */
struct break_found {
	char *name; /* path or function */
	bool is_function;
	bool is_far;
	struct code_list list;
};

void break_search_clear(struct break_search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->found[i].name);
		code_list_clear(&search->found[i].list);
	}
	free(search->found);
	search->found = NULL;
	search->count = search->capacity = 0;
}

static const struct code_list *find_list(struct break_search *search,
					 const struct breakpoint *wanted, bool is_far)
{
	const char *name = wanted->function ? wanted->function : wanted->path;
	struct codes *codes = search->breaks->codes;
	struct break_found *found;

	for (size_t i = 0; i < search->count; i++) {
		found = &search->found[i];
		if (found->is_function == !!wanted->function && found->is_far == is_far &&
		    !strcmp(found->name, name))
			return &found->list;
	}
	ARRAY_GROW(search->found, search->count, search->capacity);
	found = &search->found[search->count++];
	*found = (struct break_found){
		.name = xstrdup(name),
		.is_function = wanted->function,
		.is_far = is_far,
	};
	if (wanted->function)
		code_search_of_function(codes, name, &found->list);
	else if (is_far)
		code_search_of_file_far(codes, name, &found->list);
	else
		code_search_of_file(codes, name, &found->list);
	return &found->list;
}

uint64_t break_signature(const struct bytecode *code)
{
	uint64_t hash = hash_text(HASH_START, code->file);

	hash = hash_text(hash, code->name);
	return hash_number(hash, (uint64_t)code->first_line);
}

void break_places_clear(struct break_entry *entry)
{
	for (size_t i = 0; i < entry->count; i++)
		free(entry->places[i].watched);
	free(entry->places);
	entry->places = NULL;
	entry->count = entry->capacity = 0;
	free(entry->file);
	entry->file = NULL;
}

static const struct bytecode *find_code(const struct breaks *breaks, uint64_t address)
{
	return bytecode_find(breaks->bytecodes, address);
}

static bool has_place(const struct break_entry *entry, uint64_t code)
{
	for (size_t i = 0; i < entry->count; i++)
		if (entry->places[i].code == code)
			return true;
	return false;
}

/*
 * Adds a place that has each unit at which the line may begin. Adds nothing if there is no such
 * unit.
 */
static void breakpoint_bind_add_place(struct breaks *breaks, struct break_entry *entry,
				      const struct bytecode *code, int line)
{
	int units[UNITS_MAXIMUM];
	size_t count = bytecode_line_units(breaks->python, code, line, units, UNITS_MAXIMUM);
	struct break_place *place;

	if (count > UNITS_MAXIMUM)
		count = UNITS_MAXIMUM;
	if (!count || entry->count >= PLACES_MAXIMUM)
		return;
	ARRAY_GROW(entry->places, entry->count, entry->capacity);
	place = &entry->places[entry->count++];
	*place = (struct break_place){
		.code = code->address,
		.signature = break_signature(code),
		.line = line,
		.watched = xcalloc(count, sizeof(*place->watched)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++)
		place->watched[i] = bytecode_watched(code, units[i]);
}

static int line_in(const struct breaks *breaks, const struct break_entry *entry,
		   const struct bytecode *code)
{
	if (entry->wanted.function)
		return bytecode_first_line(breaks->python, code);
	if (!code_file_matches(entry->wanted.path, code->file) ||
	    !bytecode_has_line(breaks->python, code, entry->wanted.line))
		return 0;
	return entry->wanted.line;
}

static void add_places(struct breaks *breaks, struct break_entry *entry,
		       const struct code_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct bytecode *code;
		int line;

		if (has_place(entry, list->items[i]))
			continue;
		code = find_code(breaks, list->items[i]);
		line = code ? line_in(breaks, entry, code) : 0;
		if (line > 0)
			breakpoint_bind_add_place(breaks, entry, code, line);
	}
}

/*
 * Removes places whose code object was freed or replaced by another code object at the same
 * address.
 */
static void drop_places(struct breaks *breaks, struct break_entry *entry)
{
	size_t kept = 0;

	for (size_t i = 0; i < entry->count; i++) {
		struct break_place *place = &entry->places[i];
		const struct bytecode *code = find_code(breaks, place->code);

		if (code && break_signature(code) == place->signature)
			entry->places[kept++] = *place;
		else
			free(place->watched);
	}
	entry->count = kept;
}

static const char *breakpoint_bind_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The lines with line events around a requested line that has none, in a list of code objects. */
struct neighbours {
	int next;	/* first line after the requested line; 0: none */
	int last;	/* greatest line */
	bool has_body;	/* the list contains the code of the module's body */
	bool is_within; /* the requested line is between two lines of one function */
};

static void look_within(struct neighbours *neighbours, const struct breaks *breaks,
			const struct bytecode *code, const int *lines, int line)
{
	neighbours->is_within |= code->count > 0 && line < lines[code->count - 1] &&
				 line > bytecode_first_line(breaks->python, code);
}

static int compare_lines(const void *a, const void *b)
{
	int left = *(const int *)a;
	int right = *(const int *)b;

	return (left > right) - (left < right);
}

/* Returns the lines of the code's units in ascending order; the caller frees the array. */
static int *sort_lines(const struct bytecode *code)
{
	int *lines = xcalloc((size_t)code->count + 1, sizeof(*lines));

	for (int i = 0; i < code->count; i++)
		lines[i] = code->units[i].line;
	qsort(lines, (size_t)code->count, sizeof(*lines), compare_lines);
	return lines;
}

/*
 * Updates neighbours with the lines of one code object. Calls bytecode_has_line() as rarely as
 * possible, because each call walks through all of the code.
 */
static void look_at_lines(struct neighbours *neighbours, const struct breaks *breaks,
			  const struct bytecode *code, int line)
{
	int *lines = sort_lines(code);
	int before = line;

	for (int i = 0; i < code->count; i++) {
		if (lines[i] <= before)
			continue;
		if (neighbours->next && lines[i] >= neighbours->next)
			break;
		before = lines[i];
		if (bytecode_has_line(breaks->python, code, before))
			neighbours->next = before;
	}
	before = INT_MAX;
	for (int i = code->count - 1; i >= 0 && lines[i] > neighbours->last; i--) {
		if (lines[i] == before)
			continue;
		before = lines[i];
		if (bytecode_has_line(breaks->python, code, before))
			neighbours->last = before;
	}
	if (!strcmp(code->name, "<module>"))
		neighbours->has_body = true;
	else
		look_within(neighbours, breaks, code, lines, line);
	free(lines);
}

static struct neighbours breakpoint_bind_look_around(const struct breaks *breaks,
						     const struct break_entry *entry,
						     const struct code_list *list)
{
	struct neighbours around = { .next = 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct bytecode *code = find_code(breaks, list->items[i]);

		if (code)
			look_at_lines(&around, breaks, code, entry->wanted.line);
	}
	return around;
}

/* True if no code that is loaded later can have a line event at the requested line. */
static bool is_final(const struct neighbours *around)
{
	return around->has_body || around->is_within;
}

static char *breakpoint_bind_refuse_line(const struct break_entry *entry,
					 const struct neighbours *around)
{
	const char *file = breakpoint_bind_last_part(entry->wanted.path);
	int line = entry->wanted.line;

	if (!is_final(around) && around->next)
		return xasprintf("pending: no code of line %d of %s is loaded yet; the next line "
				 "with code is %d",
				 line, file, around->next);
	if (!is_final(around))
		return xasprintf("pending: no code of line %d of %s is loaded yet; the code loaded "
				 "so far ends at line %d",
				 line, file, around->last);
	if (!around->next)
		return xasprintf("line %d of %s is after the last line with code (%d)", line, file,
				 around->last);
	return xasprintf(
		"line %d of %s has no code (blank or a comment?): the next line with code is %d",
		line, file, around->next);
}

/* Returns a note for the user about a bound breakpoint, to free(); NULL: none. */
static char *remark(const struct breaks *breaks, const struct break_entry *entry)
{
	struct buffer text = BUFFER_INIT;
	const char *first = NULL;

	for (size_t i = 0; i < entry->count; i++) {
		const struct bytecode *code = find_code(breaks, entry->places[i].code);

		if (!code)
			continue;
		if (!first)
			first = code->file;
		if (!strcmp(first, code->file))
			continue;
		buffer_printf(&text,
			      "several files match the name: the breakpoint is set in %s and in %s",
			      first, code->file);
		return buffer_take(&text);
	}
	return NULL;
}

static void breakpoint_bind_settle(struct breaks *breaks, struct break_entry *entry)
{
	const struct bytecode *code =
		entry->count ? find_code(breaks, entry->places[0].code) : NULL;

	free(entry->message);
	entry->message = NULL;
	free(entry->file);
	entry->file = NULL;
	if (!code)
		return;
	entry->state = ENTRY_BOUND;
	entry->file = xstrdup(code->file);
	entry->line = entry->places[0].line;
	entry->message = remark(breaks, entry);
}

/* Handles a breakpoint whose file has loaded code, but none at the line. */
static void miss_line(struct break_entry *entry, struct break_search *search,
		      const struct code_list *list)
{
	struct neighbours around = breakpoint_bind_look_around(search->breaks, entry, list);

	/*
	 * A function of the line may be reachable only from a library: searches all reachable
	 * objects, but only once.
	 */
	if (search->is_far && !is_final(&around) && !entry->was_far) {
		entry->was_far = true;
		list = find_list(search, &entry->wanted, true);
		add_places(search->breaks, entry, list);
		breakpoint_bind_settle(search->breaks, entry);
		if (entry->count)
			return;
		around = breakpoint_bind_look_around(search->breaks, entry, list);
	}
	entry->state = is_final(&around) ? ENTRY_REFUSED : ENTRY_ABSENT;
	entry->message = breakpoint_bind_refuse_line(entry, &around);
}

static char *breakpoint_bind_wait_for(const struct break_entry *entry)
{
	if (entry->wanted.function)
		return xasprintf("pending: no function %s is loaded yet", entry->wanted.function);
	return xasprintf("pending: no code of %s is loaded yet",
			 breakpoint_bind_last_part(entry->wanted.path));
}

/*
 * True if the new result replaces the old places: while fewer modules were loaded, the name may
 * have meant another function. A library's function does not replace a function of the program's
 * own code, whose module may still be loading.
 */
static bool breakpoint_bind_is_better(const struct break_entry *entry, const struct code_list *list)
{
	return entry->wanted.function && list->count && entry->file &&
	       (code_file_is_library(entry->file) || !list->file ||
		!code_file_is_library(list->file));
}

void break_bind(struct break_entry *entry, struct break_search *search)
{
	struct breaks *breaks = search->breaks;
	const struct code_list *list = find_list(search, &entry->wanted, false);

	/* Allows another search of all objects: code may have been freed and loaded again. */
	if (entry->count || !list->count)
		entry->was_far = false;
	if (breakpoint_bind_is_better(entry, list))
		break_places_clear(entry);
	drop_places(breaks, entry);
	if (!entry->wanted.function || !entry->count)
		add_places(breaks, entry, list);
	breakpoint_bind_settle(breaks, entry);
	if (entry->count)
		return;
	entry->state = list->count ? ENTRY_REFUSED : ENTRY_PENDING;
	if (list->count && !entry->wanted.function)
		miss_line(entry, search, list);
	else if (list->count)
		entry->message =
			xasprintf("function %s has no line to stop at", entry->wanted.function);
	else
		entry->message = breakpoint_bind_wait_for(entry);
}

static bool breakpoint_bind_is_own(const struct break_entry *entry, const struct bytecode *code)
{
	return code && code_file_matches(entry->wanted.path, code->file) &&
	       !code_file_is_library(code->file);
}

/*
 * Refuses the breakpoint if the module body of its file is about to run, but the file has no code
 * at the line.
 */
static void miss_body(struct breaks *breaks, struct break_entry *entry,
		      const struct code_list *nested)
{
	struct neighbours around;

	if (!nested->count || nested->is_cut ||
	    !breakpoint_bind_is_own(entry, find_code(breaks, nested->items[0])))
		return;
	around = breakpoint_bind_look_around(breaks, entry, nested);
	if (!is_final(&around))
		return;
	free(entry->message);
	entry->state = ENTRY_REFUSED;
	entry->message = breakpoint_bind_refuse_line(entry, &around);
}

void break_bind_starting(struct break_entry *entry, struct breaks *breaks, uint64_t code,
			 const struct code_list *nested)
{
	struct code_list own = { .items = NULL };
	size_t before = entry->count;

	if (entry->wanted.function)
		code_search_of_function_in(breaks->codes, code, entry->wanted.function, &own);
	add_places(breaks, entry, entry->wanted.function ? &own : nested);
	code_list_clear(&own);
	if (entry->count != before)
		breakpoint_bind_settle(breaks, entry);
	else if (!entry->count && entry->wanted.path)
		miss_body(breaks, entry, nested);
}

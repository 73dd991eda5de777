#include "model/rankselect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "model/hostmatch.h"
#include "model/session.h"
#include "model/verdict.h"

#define TEXT_MAXIMUM 65536
#define ITEMS_MAXIMUM 1024
/* Limit of ranges in all items together; no user types more. */
#define RANGES_MAXIMUM 262144

enum item_kind {
	ITEM_NUMBERS,
	ITEM_ALL,
	ITEM_FOCUS,
	ITEM_OUTLIER,
	ITEM_MAJORITY,
	ITEM_STATE,
	ITEM_CLASS,
	ITEM_MARK,
	ITEM_HOST,
	ITEM_NAME,
};

struct rankselect_item {
	enum item_kind kind;
	bool is_negated;
	bool is_joined; /* joined by & with the item before */
	int number;	/* of a state, a class or a mark */
	int column;	/* position in the text, from 1 */
	char *text;	/* a host pattern, or a name */
	struct rankset numbers;
};

struct parser {
	struct rankselect *select;
	const char *text;
	const char *at;
	const char *counted; /* columns were counted up to here */
	int column;	     /* column at counted */
	size_t range_count;
	struct error *error;
};

void rankselect_clear(struct rankselect *select)
{
	for (size_t i = 0; i < select->count; i++) {
		free(select->items[i].text);
		rankset_clear(&select->items[i].numbers);
	}
	free(select->items);
	*select = (struct rankselect)RANKSELECT_INIT;
}

/* Returns the column of at, in characters; at must not decrease between calls. */
static int column_of(struct parser *parser, const char *at)
{
	for (; parser->counted < at; parser->counted++) {
		if (((unsigned char)*parser->counted & 0xc0) != 0x80)
			parser->column++;
	}
	return parser->column;
}

static int rankselect_fail(struct parser *parser, const char *at)
{
	return error_prefix(parser->error, "column %d", column_of(parser, at));
}

/* Number of bytes of a word that an error quotes: at most 40. */
static int rankselect_shown(size_t length)
{
	return length < 40 ? (int)length : 40;
}

static int parse_state(struct rankselect_item *item, const char *word, size_t length,
		       struct error *error)
{
	for (int i = 0; i <= RANK_UNKNOWN; i++) {
		const char *name = rank_state_name((enum rank_state)i);
		size_t same = 0;

		while (same < length && name[same] != '\0' &&
		       (word[same] == name[same] || (word[same] == '-' && name[same] == ' ')))
			same++;
		item->number = i;
		if (same == length && name[same] == '\0')
			return 0;
	}
	return error_set(error,
			 "unknown state '%.*s'; states are running, waiting, sleeping, stopped, "
			 "exited, not-found, unreadable and unknown",
			 rankselect_shown(length), word);
}

static int parse_class(struct rankselect_item *item, const char *word, size_t length,
		       struct error *error)
{
	size_t digits = strspn(word, "0123456789");

	if (digits >= length && length > 0 && length < 7) {
		item->number = (int)strtol(word, NULL, 10);
		return 0;
	}
	item->kind = ITEM_MARK;
	item->number = classmark_find(word, length);
	if (item->number >= 0)
		return 0;
	return error_set(error,
			 "unknown class '%.*s': give a number, or the mark of the class on the "
			 "screen (\u25cf\u25c6\u25b2\u25bc\u2605\u271a, or o*^v+x, or a letter)",
			 rankselect_shown(length), word);
}

static int rankselect_parse_name(struct rankselect_item *item, const char *word, size_t length,
				 struct error *error)
{
	free(item->text);
	item->text = xstrndup(word, length);
	if (rankname_is_valid(item->text))
		return 0;
	return error_set(error, "'@%.*s' is not a set name (letters, digits, '_', '-' and '.')",
			 rankselect_shown(length), word);
}

struct word {
	const char *name; /* followed by the value, if parse is set */
	enum item_kind kind;
	int (*parse)(struct rankselect_item *item, const char *word, size_t length,
		     struct error *error); /* NULL: the word has no value */
};

static const struct word words[] = {
	{ "all", ITEM_ALL, NULL },
	{ "focus", ITEM_FOCUS, NULL },
	{ "outlier", ITEM_OUTLIER, NULL },
	{ "majority", ITEM_MAJORITY, NULL },
	{ "state=", ITEM_STATE, parse_state },
	{ "class=", ITEM_CLASS, parse_class },
	{ "@", ITEM_NAME, rankselect_parse_name },
};

static const char *skip_spaces(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* Length of a word, up to the next comma or & outside of brackets. */
static size_t rankselect_word_length(const char *at)
{
	size_t length = 0;
	bool is_in_brackets = false;

	for (; at[length] != '\0'; length++) {
		if (at[length] == '[')
			is_in_brackets = true;
		else if (at[length] == ']')
			is_in_brackets = false;
		else if (!is_in_brackets && strchr(",&", at[length]))
			break;
	}
	while (length > 0 && strchr(" \t", at[length - 1]))
		length--;
	return length;
}

static int parse_numbers(struct parser *parser, struct rankselect_item *item)
{
	const char *start = parser->at;

	item->kind = ITEM_NUMBERS;
	if (rankset_parse_range(&item->numbers, &parser->at, parser->error) < 0)
		return rankselect_fail(parser, parser->at);
	parser->range_count += item->numbers.range_count;
	if (parser->range_count <= RANGES_MAXIMUM)
		return 0;
	error_set(parser->error, "the set has more than %d ranges of ranks", RANGES_MAXIMUM);
	return rankselect_fail(parser, start);
}

static int parse_host(struct parser *parser, struct rankselect_item *item, size_t length)
{
	const char *pattern = parser->at + strlen("host=");
	const char *fault;

	item->kind = ITEM_HOST;
	free(item->text);
	item->text = xstrndup(pattern, length - strlen("host="));
	if (hostmatch_check(item->text, &fault, parser->error) < 0)
		return rankselect_fail(parser, pattern + (fault - item->text));
	parser->at += length;
	return 0;
}

static int parse_word(struct parser *parser, struct rankselect_item *item)
{
	const char *at = parser->at;
	size_t length = rankselect_word_length(at);

	if (strncmp(at, "host=", strlen("host=")) == 0)
		return parse_host(parser, item, length);
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		const struct word *word = &words[i];
		size_t known = strlen(word->name);

		if (strncmp(at, word->name, known) != 0 || (!word->parse && length != known))
			continue;
		item->kind = word->kind;
		if (word->parse && word->parse(item, at + known, length - known, parser->error) < 0)
			return rankselect_fail(parser, at + known);
		parser->at += length;
		return 0;
	}
	if (length == 0)
		error_set(parser->error,
			  "expected a set of ranks, such as 0-7,16 or !3 or state=waiting");
	else
		error_set(parser->error,
			  "'%.*s' is not a set of ranks: use numbers (0-7, 0-63/8), all, focus, "
			  "outlier, majority, state=, class=, host= or @NAME",
			  rankselect_shown(length), at);
	return rankselect_fail(parser, at);
}

/* Parses one item: "!3", "state=waiting". */
static int parse_item(struct parser *parser, struct rankselect_item *item)
{
	const char *at = skip_spaces(parser->at);

	while (*at == '!') {
		item->is_negated = !item->is_negated;
		at = skip_spaces(at + 1);
	}
	parser->at = at;
	item->column = column_of(parser, at);
	if ((*at >= '0' && *at <= '9' ? parse_numbers(parser, item) : parse_word(parser, item)) < 0)
		return -1;
	at = skip_spaces(parser->at);
	if (*at != '\0' && !strchr(",&", *at)) {
		error_set(parser->error, "unexpected '%.*s': separate sets by a comma or &",
			  rankselect_shown(strlen(at)), at);
		return rankselect_fail(parser, at);
	}
	parser->at = at;
	return 0;
}

static bool is_plain_part(const struct rankselect_item *item)
{
	return item->kind == ITEM_NUMBERS && !item->is_joined;
}

/*
 * Merges numbers into preceding numbers, so that a long list is searched once: "1,3" is 1
 * or 3, and "!1,!3" is all but 1 and 3.
 */
static bool join_numbers(struct rankselect *select, const struct rankselect_item *item,
			 bool is_last)
{
	struct rankselect_item *before;

	if (select->count == 0 || !is_last || !is_plain_part(item))
		return false;
	before = &select->items[select->count - 1];
	if (!is_plain_part(before) || before->is_negated != item->is_negated)
		return false;
	if (item->numbers.range_count == 1)
		rankset_add_range(&before->numbers, item->numbers.ranges[0].first,
				  item->numbers.ranges[0].last);
	else
		rankset_unite(&before->numbers, &item->numbers);
	return true;
}

static int parse_list(struct parser *parser)
{
	struct rankselect *select = parser->select;
	bool is_joined = false;

	for (;;) {
		struct rankselect_item item = { .is_joined = is_joined };
		int result = parse_item(parser, &item);
		bool is_end = *parser->at == '\0';

		is_joined = *parser->at == '&';
		if (result == 0 && join_numbers(select, &item, !is_joined)) {
			rankset_clear(&item.numbers);
		} else {
			ARRAY_GROW(select->items, select->count, select->capacity);
			select->items[select->count++] = item;
		}
		if (result < 0 || is_end)
			return result;
		if (select->count >= ITEMS_MAXIMUM) {
			error_set(parser->error,
				  "the set has more than %d parts: write consecutive numbers as a "
				  "range",
				  ITEMS_MAXIMUM);
			return rankselect_fail(parser, parser->at);
		}
		parser->at++;
	}
}

int rankselect_parse(struct rankselect *select, const char *text, struct error *error)
{
	struct parser parser = {
		.select = select,
		.text = text,
		.at = text,
		.counted = text,
		.column = 1,
		.error = error,
	};
	int result;

	rankselect_clear(select);
	if (strlen(text) > TEXT_MAXIMUM)
		return error_set(error, "the set of ranks is longer than %d characters",
				 TEXT_MAXIMUM);
	result = parse_list(&parser);
	if (result < 0)
		rankselect_clear(select);
	return result;
}

static const char *host_of(const struct session *session, const struct rank *rank)
{
	const char *host = rank->process.host;

	if (rank->process.pid > 0 && (!host || host[0] == '\0') && rank->node < session->node_count)
		host = session->nodes[rank->node].name;
	return host;
}

static bool has_mark(const struct session *session, const struct rank *rank, int mark)
{
	const struct verdict *verdict = &session->verdict;

	return rank->class_index >= 0 && (size_t)rank->class_index < verdict->class_count &&
	       classmark(verdict->classes[rank->class_index].mark) == classmark(mark);
}

static bool rankselect_is_meant(const struct rankselect_item *item, const struct session *session,
				const struct rank *rank)
{
	const struct rankset *named;

	switch (item->kind) {
	case ITEM_NUMBERS:
		return rankset_contains(&item->numbers, rank->process.rank);
	case ITEM_ALL:
		return true;
	case ITEM_FOCUS:
		return session_is_focused(session, rank);
	case ITEM_OUTLIER:
		return rank->is_outlier;
	case ITEM_MAJORITY:
		return session->verdict.majority >= 0 &&
		       rank->class_index == session->verdict.majority;
	case ITEM_STATE:
		return (int)rank->state == item->number;
	case ITEM_CLASS:
		return rank->class_index == item->number;
	case ITEM_MARK:
		return has_mark(session, rank, item->number);
	case ITEM_HOST:
		return hostmatch(item->text, host_of(session, rank));
	case ITEM_NAME:
		named = rankname_find(session, item->text);
		return named && rankset_contains(named, rank->process.rank);
	}
	return false;
}

bool rankselect_has(const struct rankselect *select, const struct session *session,
		    const struct rank *rank)
{
	bool has = false;

	for (size_t i = 0; i < select->count;) {
		bool fits = true;
		bool is_removal = i > 0; /* negated items remove ranks, except at the beginning */

		do {
			const struct rankselect_item *item = &select->items[i];

			fits = fits && rankselect_is_meant(item, session, rank) != item->is_negated;
			is_removal = is_removal && item->is_negated;
			i++;
		} while (i < select->count && select->items[i].is_joined);
		has = is_removal ? has && fits : has || fits;
	}
	return has;
}

/* Checks that the name, class or majority in an item exists. */
static int rankselect_check(const struct rankselect_item *item, const struct session *session,
			    struct error *error)
{
	const struct verdict *verdict = &session->verdict;

	if (item->kind == ITEM_NAME && !rankname_find(session, item->text)) {
		error_set(error, "unknown set '%s': use `name %s SET` to define the set",
			  item->text, item->text);
	} else if (item->kind == ITEM_CLASS && (size_t)item->number >= verdict->class_count) {
		error_set(error, "class %d does not exist: the last class is %zu", item->number,
			  verdict->class_count > 0 ? verdict->class_count - 1 : 0);
	} else if (item->kind == ITEM_MAJORITY && verdict->majority < 0) {
		error_set(error, "no majority, as no stack is shared by more than half of the "
				 "ranks: name a rank or a set");
	} else {
		return 0;
	}
	return error_prefix(error, "column %d", item->column);
}

int rankselect_resolve(const struct rankselect *select, const struct session *session,
		       struct rankset *set, struct error *error)
{
	rankset_clear(set);
	for (size_t i = 0; i < select->count; i++) {
		if (rankselect_check(&select->items[i], session, error) < 0)
			return -1;
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rankselect_has(select, session, rank))
			rankset_add(set, rank->process.rank);
	}
	return 0;
}

bool rankselect_add_numbers(const struct rankselect *select, struct rankset *set)
{
	struct rankset numbers = RANKSET_INIT;
	bool is_numbers = select->count > 0 && !select->items[0].is_negated;

	for (size_t i = 0; i < select->count && is_numbers; i++) {
		const struct rankselect_item *item = &select->items[i];

		is_numbers = is_plain_part(item);
		if (is_numbers && item->is_negated)
			rankset_subtract(&numbers, &item->numbers);
		else if (is_numbers)
			rankset_unite(&numbers, &item->numbers);
	}
	if (is_numbers)
		rankset_unite(set, &numbers);
	rankset_clear(&numbers);
	return is_numbers;
}

static int world_size(const struct session *session)
{
	int size = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct process *process = &session->ranks[i]->process;

		if (process->world_size > size)
			size = process->world_size;
	}
	return size;
}

static bool are_all_there(const struct rankset *numbers, const struct session *session)
{
	int size = world_size(session);
	int rank = -1;

	while ((rank = rankset_next(numbers, rank)) >= 0 && (size == 0 || rank < size)) {
		if (!session_find_rank(session, rank))
			return false;
	}
	return true;
}

bool rankselect_has_come(const struct rankselect *select, const struct session *session)
{
	struct rankset numbers = RANKSET_INIT;
	bool has_come =
		rankselect_add_numbers(select, &numbers) ? are_all_there(&numbers, session) : true;

	rankset_clear(&numbers);
	for (size_t i = 0; i < session->rank_count && has_come; i++) {
		if (rankselect_has(select, session, session->ranks[i]))
			return true;
	}
	return false;
}

bool rankselect_is_of_process(const struct rankselect *select)
{
	for (size_t i = 0; i < select->count; i++) {
		enum item_kind kind = select->items[i].kind;

		if (kind != ITEM_NUMBERS && kind != ITEM_ALL && kind != ITEM_HOST)
			return false;
	}
	return true;
}

bool rankselect_is_judged(const struct rankselect *select)
{
	for (size_t i = 0; i < select->count; i++) {
		enum item_kind kind = select->items[i].kind;

		if (kind == ITEM_OUTLIER || kind == ITEM_MAJORITY || kind == ITEM_CLASS ||
		    kind == ITEM_MARK)
			return true;
	}
	return false;
}

int rankselect_find(const char *text, const struct session *session, struct rankset *set,
		    struct error *error)
{
	struct rankselect select = RANKSELECT_INIT;
	int result = rankselect_parse(&select, text, error);

	if (result == 0)
		result = rankselect_resolve(&select, session, set, error);
	rankselect_clear(&select);
	if (result < 0 || rankset_count(set) > 0)
		return result;
	if (strspn(text, "0123456789") > 0)
		return error_set(error, "rank %.80s does not exist", text);
	return error_set(error, "no rank matches '%.80s'", text);
}

bool rankname_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	size_t length = strlen(name);

	return length > 0 && length <= RANKNAME_LENGTH && strspn(name, letters) == length;
}

static struct rankname *find(const struct session *session, const char *name)
{
	for (size_t i = 0; i < session->choice.name_count; i++) {
		if (strcmp(session->choice.names[i].name, name) == 0)
			return &session->choice.names[i];
	}
	return NULL;
}

int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error)
{
	struct rankname *named = find(session, name);

	if (!rankname_is_valid(name))
		return error_set(error,
				 "'%.40s' is not a set name (up to %d letters, digits, '_', '-' "
				 "or '.')",
				 name, RANKNAME_LENGTH);
	if (!named && session->choice.name_count >= RANKNAMES_MAXIMUM)
		return error_set(error, "too many named sets (%d): redefine one of them",
				 RANKNAMES_MAXIMUM);
	if (!named) {
		session->choice.names =
			xrealloc(session->choice.names,
				 (session->choice.name_count + 1) * sizeof(struct rankname));
		named = &session->choice.names[session->choice.name_count++];
		*named = (struct rankname){ .name = xstrdup(name) };
	}
	rankset_copy(&named->ranks, ranks);
	return 0;
}

const struct rankset *rankname_find(const struct session *session, const char *name)
{
	const struct rankname *named = find(session, name);

	return named ? &named->ranks : NULL;
}

void rankname_clear_all(struct session *session)
{
	for (size_t i = 0; i < session->choice.name_count; i++) {
		free(session->choice.names[i].name);
		rankset_clear(&session->choice.names[i].ranks);
	}
	free(session->choice.names);
	session->choice.names = NULL;
	session->choice.name_count = 0;
}

#include "ui/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "model/session.h"
#include "ui/pane.h"

#define LEVELS_MAXIMUM 8

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* True: text is an identifier, which can be written behind a dot. */
static bool names_is_name(const char *text)
{
	size_t length = 0;

	while (is_letter(text[length]))
		length++;
	return length > 0 && text[length] == '\0' && !(*text >= '0' && *text <= '9');
}

/* Returns the beginning of the dotted name (a.b.c) at the end of word, behind the last "(", "+" or
 * "[". */
static const char *chain_start(const char *word)
{
	const char *start = word + strlen(word);

	while (start > word && (is_letter(start[-1]) || start[-1] == '.'))
		start--;
	return start;
}

static const struct variable *find(const struct variables *page, const char *name, size_t length)
{
	for (size_t i = 0; page != NULL && i < page->list.count; i++)
		if (strncmp(page->list.items[i].name, name, length) == 0 &&
		    page->list.items[i].name[length] == '\0')
			return &page->list.items[i];
	return NULL;
}

struct names_query names_find(const struct session *session, const char *word,
			      void (*give)(void *data, const char *text), void *data)
{
	struct locals_frame frame = locals_frame_selected(session);
	const char *at = chain_start(word);
	const struct variables *page;
	struct names_query query = { 0 };

	if (frame.rank == NULL || frame.thread == NULL || frame.depth < 0)
		return query;
	page = session_find_variables(session, frame.rank->node, frame.rank->process.pid,
				      frame.thread->sample.tid, frame.depth, 0, 0);
	for (int i = 0; i < LEVELS_MAXIMUM && strchr(at, '.') != NULL; i++) {
		size_t length = strcspn(at, ".");
		const struct variable *variable = find(page, at, length);

		if (variable == NULL || variable->address == 0)
			return query;
		page = session_find_variables(session, frame.rank->node, frame.rank->process.pid, 0,
					      -1, variable->address, 0);
		if (page == NULL)
			query.address = variable->address;
		at += length + 1;
	}
	for (size_t i = 0; page != NULL && i < page->list.count; i++) {
		char *text;

		if (!names_is_name(page->list.items[i].name))
			continue;
		text = xasprintf("%.*s%s", (int)(at - word), word, page->list.items[i].name);
		give(data, text);
		free(text);
	}
	return query;
}

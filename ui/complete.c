#include "ui/complete.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/configfile.h"
#include "engine/synopsis.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/rankselect.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/commands.h"
#include "ui/keymap.h"
#include "ui/pane.h"
#include "ui/theme.h"

#define BLANKS " \t"
#define FILES_MAXIMUM 10000 /* directory entries that are read in one folder */
#define LINKS_MAXIMUM 100   /* entries that are stat()ed, maybe on a slow file system */

/* The word to complete, and the words before the word. */
struct typing {
	struct candidates *candidates;
	const char *word;
	const struct session *session;
	const struct keymap *keymap;
	const struct command *command; /* NULL: the word is the command's name */
	struct arguments before;       /* the complete words */
};

void candidates_clear(struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		free(candidates->items[i]);
	free(candidates->items);
	*candidates = (struct candidates){ .items = NULL };
}

/* Adds text to the candidates if text begins with the typed word. */
static void offer(const struct typing *typing, const char *text)
{
	struct candidates *candidates = typing->candidates;

	if (strncmp(text, typing->word, strlen(typing->word)) != 0 ||
	    candidates->count == COMPLETE_MAXIMUM)
		return;
	for (size_t i = 0; i < candidates->count; i++)
		if (strcmp(candidates->items[i], text) == 0)
			return;
	ARRAY_GROW(candidates->items, candidates->count, candidates->capacity);
	candidates->items[candidates->count++] = xstrdup(text);
}

static void offer_number(const struct typing *typing, const char *prefix, int number)
{
	char *text = xasprintf("%s%d", prefix, number);

	offer(typing, text);
	free(text);
}

static void offer_commands(const struct typing *typing)
{
	struct command_cursor cursor = { .tables = &screen_commands };
	const struct command *command;

	while ((command = command_cursor_next(&cursor)) != NULL)
		if (!(command->flags & COMMAND_INTERNAL))
			offer(typing, command->name);
}

static void offer_themes(const struct typing *typing)
{
	size_t count;
	char **names = theme_names(&count);

	for (size_t i = 0; i < count; i++)
		offer(typing, names[i]);
	theme_names_free(names, count);
}

static void offer_ranks(const struct typing *typing)
{
	for (size_t i = 0; i < typing->session->rank_count; i++)
		offer_number(typing, "", typing->session->ranks[i]->process.rank);
}

/* Offers the words that can begin a set of ranks: keywords, names, classes, hosts, numbers. */
static void offer_sets(const struct typing *typing)
{
	static const char *const words[] = {
		"all",		 "outlier",	   "majority",	    "state=running",
		"state=waiting", "state=sleeping", "state=stopped", "state=exited",
	};
	const struct session *session = typing->session;

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		offer(typing, words[i]);
	for (size_t i = 0; i < session->choice.name_count; i++) {
		char *text = xasprintf("@%s", session->choice.names[i].name);

		offer(typing, text);
		free(text);
	}
	for (size_t i = 0; i < session->verdict.class_count; i++)
		offer_number(typing, "class=", (int)i);
	for (size_t i = 0; i < session->node_count; i++) {
		char *text = xasprintf("host=%s", session->nodes[i].name);

		offer(typing, text);
		free(text);
	}
	offer_ranks(typing);
}

static void offer_jobs(const struct typing *typing)
{
	for (size_t i = 0; i < typing->session->job_count; i++) {
		const struct job *job = &typing->session->jobs[i];
		const char *port = strrchr(job->name, ':');

		if (port != NULL)
			offer(typing, port + 1);
		if (job->launcher_pid > 0)
			offer_number(typing, "", (int)job->launcher_pid);
	}
}

static void offer_settings(const struct typing *typing)
{
	for (size_t i = 0; i < setting_row_count; i++)
		if (setting_rows[i].is_live)
			offer(typing, setting_rows[i].name);
}

static void offer_keys(const struct typing *typing)
{
	for (size_t i = 0; i < typing->keymap->count; i++)
		offer(typing, typing->keymap->bindings[i].key);
}

static int complete_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* True if text is a single word of a command line, without quotes. */
static bool is_one_word(const char *text)
{
	return strpbrk(text, " \t\r\"'#") == NULL && text_is_utf8(text, strlen(text)) &&
	       text_is_plain(text, strlen(text));
}

static bool complete_is_folder(const char *path, const struct dirent *entry, int *links)
{
	struct stat about;

	if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	if (*links == LINKS_MAXIMUM)
		return false;
	++*links;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Offers a file; a folder gets a slash, so that the next Tab completes inside the folder. */
static void offer_file(const struct typing *typing, const char *folder, const struct dirent *entry,
		       int *links)
{
	char *path = xasprintf("%s%s", folder, entry->d_name);
	char *shown;

	if (is_one_word(path)) {
		shown = xasprintf("%s%s", path, complete_is_folder(path, entry, links) ? "/" : "");
		offer(typing, shown);
		free(shown);
	}
	free(path);
}

static void offer_files(const struct typing *typing)
{
	struct candidates *candidates = typing->candidates;
	const char *slash = strrchr(typing->word, '/');
	char *folder =
		xstrndup(typing->word, slash != NULL ? (size_t)(slash + 1 - typing->word) : 0);
	const char *start = slash != NULL ? slash + 1 : typing->word;
	DIR *directory = opendir(*folder != '\0' ? folder : ".");
	size_t first = candidates->count;
	const struct dirent *entry;
	int links = 0;

	for (int i = 0;
	     directory != NULL && i < FILES_MAXIMUM && (entry = readdir(directory)) != NULL; i++)
		if (strncmp(entry->d_name, start, strlen(start)) == 0 &&
		    (entry->d_name[0] != '.' || start[0] == '.') &&
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			offer_file(typing, folder, entry, &links);
	if (directory != NULL)
		closedir(directory);
	if (candidates->count > first)
		qsort(candidates->items + first, candidates->count - first,
		      sizeof(*candidates->items), complete_compare);
	free(folder);
}

/* Offers the targets of debuggers that wait for a client. */
static void offer_targets(const struct typing *typing)
{
	for (size_t i = 0; i < typing->session->rank_count; i++)
		if (debug_state_is_waiting(typing->session->ranks[i]) &&
		    typing->session->ranks[i]->debugger.target != NULL)
			offer(typing, typing->session->ranks[i]->debugger.target);
}

static void offer_breakpoints(const struct typing *typing)
{
	const struct breakpoints *list = &typing->session->choice.breakpoints;

	for (size_t i = 0; i < list->count; i++)
		offer_number(typing, "", list->items[i].breakpoint.id);
}

/* Offers the file and line of the selected frame. */
static void offer_place(const struct typing *typing)
{
	const struct frame *frame = selected_frame(typing->session);
	char *text;

	if (frame == NULL)
		return;
	text = xasprintf("%s:%d", place_file_name(frame->code->file), frame->lineno);
	if (is_one_word(text))
		offer(typing, text);
	free(text);
}

static void give_name(void *data, const char *text)
{
	offer(data, text);
}

/* Offers the variables of the selected frame, and known attributes. */
static void offer_names(const struct typing *typing)
{
	names_find(typing->session, typing->word, give_name, (void *)typing);
}

struct placeholder {
	const char *text;
	void (*offer)(const struct typing *typing);
};

/* Placeholders of synopses that only the screen can complete. */
static const struct placeholder placeholders[] = {
	{ "PORT", offer_jobs },	     { "KEY", offer_keys },	  { "N", offer_ranks },
	{ "TARGET", offer_targets }, { "ID", offer_breakpoints }, { "FILE:LINE", offer_place },
	{ "EXPR", offer_names },
};

static void offer_placeholder(const struct typing *typing, const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(placeholders); i++)
		if (strcmp(placeholders[i].text, text) == 0)
			placeholders[i].offer(typing);
	/* For a setting, offer the values that the setting takes. */
	if (strcmp(text, "VALUE") != 0 || typing->before.all_count != 2)
		return;
	for (size_t i = 0; i < setting_row_count; i++) {
		struct synopsis_part parts[SYNOPSIS_PARTS];
		size_t count;

		if (strcmp(setting_rows[i].name, typing->before.words[0]) != 0)
			continue;
		count = synopsis_split(setting_rows[i].values, parts);
		for (size_t j = 0; j < count; j++)
			if (parts[j].kind == SYNOPSIS_WORD)
				offer(typing, parts[j].text);
			else if (parts[j].kind == SYNOPSIS_THEME)
				offer_themes(typing);
	}
}

static void offer_part(const struct typing *typing, const struct synopsis_part *part)
{
	switch (part->kind) {
	case SYNOPSIS_WORD:
		offer(typing, part->text);
		break;
	case SYNOPSIS_FILE:
		offer_files(typing);
		break;
	case SYNOPSIS_THEME:
		offer_themes(typing);
		break;
	case SYNOPSIS_COMMAND:
		offer_commands(typing);
		break;
	case SYNOPSIS_SETTING:
		/* The setting's name is the first word, the value the second. */
		if (typing->before.all_count == 1)
			offer_settings(typing);
		break;
	case SYNOPSIS_RANK:
		offer_ranks(typing);
		break;
	case SYNOPSIS_RANKS:
		offer_sets(typing);
		break;
	case SYNOPSIS_FREE:
		offer_placeholder(typing, part->text);
		break;
	}
}

static void offer_arguments(const struct typing *typing)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(command_synopsis(typing->command, COMMAND_SCREEN), parts);
	const char *previous = NULL;

	if (typing->before.count > 0)
		previous = typing->before.words[typing->before.count - 1];
	for (size_t i = 0; i < count; i++)
		if (synopsis_fits(parts, count, i, previous))
			offer_part(typing, &parts[i]);
}

/* Returns the offset of the last word in the line. */
static size_t word_start(const char *line)
{
	size_t start = strlen(line);

	while (start > 0 && strchr(BLANKS, line[start - 1]) == NULL)
		start--;
	return start;
}

void complete_line(struct candidates *candidates, const char *line, const struct session *session,
		   const struct keymap *keymap)
{
	struct typing typing = {
		.candidates = candidates,
		.session = session,
		.keymap = keymap,
	};
	char *before;

	candidates_clear(candidates);
	candidates->start = word_start(line);
	typing.word = line + candidates->start;
	before = xstrndup(line, candidates->start);
	if (arguments_split(&typing.before, before, NULL) == 0) {
		if (typing.before.name == NULL)
			offer_commands(&typing);
		else
			typing.command = command_lookup(&screen_commands, typing.before.name, NULL);
	}
	if (typing.command != NULL)
		offer_arguments(&typing);
	arguments_clear(&typing.before);
	free(before);
}

size_t candidates_common(const struct candidates *candidates)
{
	size_t length = 0;

	if (candidates->count == 0)
		return 0;
	length = strlen(candidates->items[0]);
	for (size_t i = 1; i < candidates->count; i++) {
		size_t same = 0;

		while (same < length && candidates->items[i][same] == candidates->items[0][same])
			same++;
		length = same;
	}
	/* Do not cut inside a UTF-8 character. */
	while (length > 0 && ((unsigned char)candidates->items[0][length] & 0xc0) == 0x80)
		length--;
	return length;
}

#define LEVELS_MAXIMUM 8

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* True if text is an identifier, which can be written after a dot. */
static bool names_is_name(const char *text)
{
	size_t length = 0;

	while (is_letter(text[length]))
		length++;
	return length > 0 && text[length] == '\0' && !(*text >= '0' && *text <= '9');
}

/* Returns the beginning of the dotted name (a.b.c) at the end of word, after the last "(", "+" or
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

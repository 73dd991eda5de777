#include "backends/pdb/shelf.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/pdb/pdb-scan-state.h"
#include "backends/pdb/socketfile.h"
#include "base/alloc.h"
#include "base/map.h"

/* Files that are told of for one process. */
#define MATCHES_MAXIMUM 16
/* More folders than jobs have: those of containers that are gone. */
#define SHELVES_MAXIMUM 256

struct shelf {
	struct socket_folder folder;
	unsigned look; /* when it was read */
};

struct shelves {
	struct strmap *shelves; /* by key() */
	unsigned look;
};

/* What is asked for. */
struct search {
	struct shelves *shelves;
	const struct pdb_scan_state *state;
	void (*each)(const char *path, const char *seen, void *data);
	void *data;
	int match_count;
};

static void free_shelf(void *value)
{
	struct shelf *shelf = value;

	socket_folder_clear(&shelf->folder);
	free(shelf);
}

struct shelves *shelves_new(void)
{
	struct shelves *shelves = xcalloc(1, sizeof(*shelves));

	shelves->shelves = strmap_new(free_shelf);
	return shelves;
}

void shelves_free(struct shelves *shelves)
{
	if (!shelves)
		return;
	strmap_free(shelves->shelves);
	free(shelves);
}

void shelves_turn(struct shelves *shelves)
{
	shelves->look++;
	if (strmap_count(shelves->shelves) <= SHELVES_MAXIMUM)
		return;
	strmap_free(shelves->shelves);
	shelves->shelves = strmap_new(free_shelf);
}

/* All processes of one container share its folders. */
static void make_key(const struct pdb_scan_state *state, const char *seen, char *out, size_t size)
{
	if (state->is_rooted)
		snprintf(out, size, "%ju:%ju:%s", (uintmax_t)state->device, (uintmax_t)state->inode,
			 seen);
	else
		snprintf(out, size, "%s", seen);
}

/* Lends the folder as it is now; NULL: its name is too long. */
static struct socket_folder *read_folder(struct search *search, const char *seen)
{
	struct shelves *shelves = search->shelves;
	char key[PATH_MAX + 64];
	char path[PATH_MAX];
	struct shelf *shelf;

	if (!pdb_scan_state_reach(search->state, seen, path, sizeof(path)))
		return NULL;
	make_key(search->state, seen, key, sizeof(key));
	shelf = strmap_find(shelves->shelves, key);
	if (!shelf) {
		shelf = xcalloc(1, sizeof(*shelf));
		shelf->folder.seen = xstrdup(seen);
		strmap_put(shelves->shelves, key, shelf);
	}
	if (shelf->look == shelves->look)
		return &shelf->folder;
	shelf->look = shelves->look;
	free(shelf->folder.path);
	shelf->folder.path = xstrdup(path);
	socket_folder_read(&shelf->folder);
	return &shelf->folder;
}

static bool is_match(const struct pdb_scan_state *state, const struct socket_name *name)
{
	return (state->rank >= 0 && name->rank == state->rank) || name->pid == state->pid;
}

static void search_folder(struct search *search, const char *seen)
{
	const struct socket_folder *folder = read_folder(search, seen);

	for (size_t i = 0; folder && i < folder->count; i++) {
		const struct socket_file *file = &folder->files[i];
		char path[PATH_MAX];
		char name[PATH_MAX];

		if (!is_match(search->state, &file->numbers) ||
		    search->match_count++ >= MATCHES_MAXIMUM)
			continue;
		snprintf(name, sizeof(name), "%s/%s", seen, file->name);
		if (pdb_scan_state_reach(search->state, name, path, sizeof(path)))
			search->each(path, name, search->data);
	}
}

static void search_base(struct search *search, const char *base)
{
	char folder[PATH_MAX];

	search_folder(search, base);
	snprintf(folder, sizeof(folder), "%s/pdb-%u", base, search->state->uid);
	search_folder(search, folder);
}

void shelves_each(struct shelves *shelves, const struct pdb_scan_state *state,
		  void (*each)(const char *path, const char *seen, void *data), void *data)
{
	struct search search = {
		.shelves = shelves,
		.state = state,
		.each = each,
		.data = data,
	};
	const char *ours = state->is_rooted ? NULL : getenv("TMPDIR");
	const char *its = state->folder;

	if (its)
		search_base(&search, its);
	if (!its || strcmp(its, "/tmp") != 0)
		search_base(&search, "/tmp");
	if (ours && ours[0] == '/' && strcmp(ours, "/tmp") != 0 && (!its || strcmp(its, ours) != 0))
		search_base(&search, ours);
}

#include "backends/pdb/socket-dir-cache.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/pdb/pdb-scan-state.h"
#include "backends/pdb/socket-file.h"
#include "base/alloc.h"
#include "base/map.h"

/* Maximum of files reported for one process. */
#define MATCHES_MAXIMUM 16
/* More folders than jobs use: the rest belongs to containers that have ended. */
#define DIRS_MAXIMUM 256

struct socket_dir {
	struct socket_folder folder;
	unsigned scan; /* last scan that has read the folder */
};

struct socket_dir_cache {
	struct strmap *dirs; /* by socket_dir_cache_make_key() */
	unsigned scan;
};

/* Arguments of socket_dir_cache_each(). */
struct search {
	struct socket_dir_cache *cache;
	const struct pdb_scan_state *state;
	void (*each)(const char *path, const char *seen, void *data);
	void *data;
	int match_count;
};

static void free_dir(void *value)
{
	struct socket_dir *dir = value;

	socket_folder_clear(&dir->folder);
	free(dir);
}

struct socket_dir_cache *socket_dir_cache_new(void)
{
	struct socket_dir_cache *cache = xcalloc(1, sizeof(*cache));

	cache->dirs = strmap_new(free_dir);
	return cache;
}

void socket_dir_cache_free(struct socket_dir_cache *cache)
{
	if (!cache)
		return;
	strmap_free(cache->dirs);
	free(cache);
}

void socket_dir_cache_begin(struct socket_dir_cache *cache)
{
	cache->scan++;
	if (strmap_count(cache->dirs) <= DIRS_MAXIMUM)
		return;
	strmap_free(cache->dirs);
	cache->dirs = strmap_new(free_dir);
}

/*
 * The key is the path, in a container with the device and inode of its /tmp: processes of one
 * container share an entry.
 */
static void socket_dir_cache_make_key(const struct pdb_scan_state *state, const char *seen,
				      char *out, size_t size)
{
	if (state->is_rooted)
		snprintf(out, size, "%ju:%ju:%s", (uintmax_t)state->device, (uintmax_t)state->inode,
			 seen);
	else
		snprintf(out, size, "%s", seen);
}

/* Returns the folder, read in this scan (borrowed); NULL: the path is too long. */
static struct socket_folder *read_folder(struct search *search, const char *seen)
{
	struct socket_dir_cache *cache = search->cache;
	char key[PATH_MAX + 64];
	char path[PATH_MAX];
	struct socket_dir *dir;

	if (!pdb_scan_state_reach(search->state, seen, path, sizeof(path)))
		return NULL;
	socket_dir_cache_make_key(search->state, seen, key, sizeof(key));
	dir = strmap_find(cache->dirs, key);
	if (!dir) {
		dir = xcalloc(1, sizeof(*dir));
		dir->folder.seen = xstrdup(seen);
		strmap_put(cache->dirs, key, dir);
	}
	if (dir->scan == cache->scan)
		return &dir->folder;
	dir->scan = cache->scan;
	free(dir->folder.path);
	dir->folder.path = xstrdup(path);
	socket_folder_read(&dir->folder);
	return &dir->folder;
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

void socket_dir_cache_each(struct socket_dir_cache *cache, const struct pdb_scan_state *state,
			   void (*each)(const char *path, const char *seen, void *data), void *data)
{
	struct search search = {
		.cache = cache,
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

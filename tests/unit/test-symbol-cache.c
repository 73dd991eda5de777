/* Names of native functions from one run to the next: all of them, or none. */
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/native/elf-file.h"
#include "backends/native/images.h"
#include "backends/native/symbol-cache.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/map.h"

#define SETTLE_SECONDS 60
#define PAUSE_MILLISECONDS 20

struct scene {
	char home[64];
	int folder; /* of the cache */
	struct symbol_cache *cache;
	struct map *names;
	struct symbol_key key;
};

static void free_name(void *value)
{
	struct place_name *name = value;

	free(name->func);
	free(name->qualname);
	free(name->file);
	free(name);
}

static void add_name(struct map *names, uint64_t address, const char *func, const char *file,
		     int lineno)
{
	struct place_name *name = xcalloc(1, sizeof(*name));

	name->func = xstrdup(func);
	name->file = xstrdup(file);
	name->lineno = lineno;
	name->has_symbol = func[0] != '?';
	name->is_lasting = true;
	map_put(names, address, name);
}

static int open_scene(void **state)
{
	struct scene *scene = xcalloc(1, sizeof(*scene));

	snprintf(scene->home, sizeof(scene->home), "/tmp/symbols-XXXXXX");
	assert_non_null(mkdtemp(scene->home));
	setenv("XDG_CACHE_HOME", scene->home, 1);
	scene->folder = file_cache_folder("symbols");
	assert_true(scene->folder >= 0);
	scene->cache = symbol_cache_new();
	symbol_cache_open(scene->cache);
	scene->names = map_new(free_name);
	scene->key = (struct symbol_key){
		.id = { 1, 2, 3 },
		.id_length = 3,
		.image = { .device = 1, .inode = 2, .size = 3, .changed = 4 },
	};
	add_name(scene->names, 0x1000, "read", "/lib/libc.so.6", 0);
	add_name(scene->names, 0x2000, "?", "/lib/libc.so.6", 0);
	add_name(scene->names, 0x3000, "wait", "wait.c", 7);
	*state = scene;
	return 0;
}

/* The only file in the folder. */
static char *find_file(const struct scene *scene)
{
	int fd = openat(scene->folder, ".", O_RDONLY | O_DIRECTORY);
	DIR *folder = fdopendir(fd);
	struct dirent *entry;
	char *name = NULL;

	while ((entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		assert_null(name);
		name = xstrdup(entry->d_name);
	}
	closedir(folder);
	return name;
}

static void empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

static int close_scene(void **state)
{
	struct scene *scene = *state;
	char *path = xasprintf("%s/probetui/symbols", scene->home);

	empty(path);
	*strrchr(path, '/') = '\0';
	empty(path);
	empty(scene->home);
	free(path);
	map_free(scene->names);
	symbol_cache_free(scene->cache);
	close(scene->folder);
	free(scene);
	return 0;
}

static size_t count_kept(const struct scene *scene, const struct symbol_key *key)
{
	struct map *names = map_new(free_name);
	size_t count = symbol_cache_load(scene->cache, key, names);

	assert_int_equal(map_count(names), count);
	map_free(names);
	return count;
}

static void save(const struct scene *scene)
{
	symbol_cache_save(scene->cache, &scene->key, scene->names);
}

static void what_was_kept_is_there(void **state)
{
	const struct scene *scene = *state;
	struct map *names = map_new(free_name);
	const struct place_name *name;

	assert_int_equal(count_kept(scene, &scene->key), 0);
	save(scene);
	assert_int_equal(symbol_cache_load(scene->cache, &scene->key, names), 3);
	name = map_find(names, 0x1000);
	assert_string_equal(name->func, "read");
	assert_true(name->has_symbol);
	/* The path is each process's own. */
	assert_null(name->file);
	name = map_find(names, 0x2000);
	assert_null(name->func);
	assert_false(name->has_symbol);
	name = map_find(names, 0x3000);
	assert_string_equal(name->file, "wait.c");
	assert_int_equal(name->lineno, 7);
	map_free(names);
}

static void only_the_user_can_read_it(void **state)
{
	const struct scene *scene = *state;
	struct stat about;
	char *name;

	save(scene);
	name = find_file(scene);
	assert_non_null(name);
	assert_int_equal(fstat(scene->folder, &about), 0);
	assert_int_equal(about.st_mode & 07777, 0700);
	assert_int_equal(fstatat(scene->folder, name, &about, 0), 0);
	assert_int_equal(about.st_mode & 07777, 0600);
	free(name);
}

static void what_does_not_last_is_not_kept(void **state)
{
	const struct scene *scene = *state;
	struct place_name *name = map_find(scene->names, 0x1000);

	name->is_lasting = false;
	save(scene);
	assert_int_equal(count_kept(scene, &scene->key), 2);
}

/* Each member of a key counts: who claims a build id has no part in it. */
static void another_file_has_other_names(void **state)
{
	const struct scene *scene = *state;
	const struct symbol_key *key = &scene->key;

	save(scene);
	for (size_t at = 0; at < sizeof(*key); at++) {
		struct symbol_key other = *key;

		((uint8_t *)&other)[at] ^= 1;
		assert_int_equal(count_kept(scene, &other), 0);
	}
	assert_int_equal(count_kept(scene, key), 3);
}

/* Named as another key's: its header says whose it is. */
static void a_file_is_believed_only_of_its_key(void **state)
{
	const struct scene *scene = *state;
	struct symbol_key other = scene->key;
	char *wanted;
	char *name;

	save(scene);
	wanted = find_file(scene);
	assert_int_equal(unlinkat(scene->folder, wanted, 0), 0);
	other.image.inode++;
	symbol_cache_save(scene->cache, &other, scene->names);
	name = find_file(scene);
	assert_int_equal(renameat(scene->folder, name, scene->folder, wanted), 0);
	assert_int_equal(count_kept(scene, &scene->key), 0);
	free(name);
	free(wanted);
}

static void a_changed_byte_voids_it(void **state)
{
	const struct scene *scene = *state;
	struct stat about;
	char *name;
	int fd;

	save(scene);
	name = find_file(scene);
	fd = openat(scene->folder, name, O_RDWR);
	assert_int_equal(fstat(fd, &about), 0);
	for (off_t at = 0; at < about.st_size; at++) {
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		assert_int_equal(count_kept(scene, &scene->key), 0);
		byte ^= 0x40;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(count_kept(scene, &scene->key), 3);
	for (off_t length = about.st_size - 1; length >= 0; length--) {
		assert_int_equal(ftruncate(fd, length), 0);
		assert_int_equal(count_kept(scene, &scene->key), 0);
	}
	close(fd);
	free(name);
}

static void what_others_may_write_is_not_read(void **state)
{
	const struct scene *scene = *state;
	char *name;

	save(scene);
	name = find_file(scene);
	assert_int_equal(fchmodat(scene->folder, name, 0620, 0), 0);
	assert_int_equal(count_kept(scene, &scene->key), 0);
	assert_int_equal(fchmodat(scene->folder, name, 0600, 0), 0);
	assert_int_equal(count_kept(scene, &scene->key), 3);
	/* Only root can give a file away. */
	if (geteuid() == 0) {
		assert_int_equal(fchownat(scene->folder, name, 1, 1, 0), 0);
		assert_int_equal(count_kept(scene, &scene->key), 0);
	}
	free(name);
}

static void a_link_is_not_followed(void **state)
{
	const struct scene *scene = *state;
	char *name;

	save(scene);
	name = find_file(scene);
	assert_int_equal(renameat(scene->folder, name, scene->folder, "aside"), 0);
	assert_int_equal(symlinkat("aside", scene->folder, name), 0);
	assert_int_equal(count_kept(scene, &scene->key), 0);
	/* It is replaced; where it led to is as it was. */
	save(scene);
	assert_int_equal(count_kept(scene, &scene->key), 3);
	assert_int_equal(faccessat(scene->folder, "aside", F_OK, 0), 0);
	free(name);
}

/* Of a kilobyte each. */
static void add_many(const struct scene *scene, uint64_t count)
{
	char text[1000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (uint64_t i = 0; i < count; i++)
		add_name(scene->names, 0x10000 + i, text, "", 0);
}

static void too_many_names_begin_anew(void **state)
{
	const struct scene *scene = *state;

	save(scene);
	add_many(scene, 1100);
	save(scene);
	assert_null(find_file(scene));
}

/* How many of the keys that were saved are still there, from the first on. */
static uint64_t count_files(const struct scene *scene, uint64_t count, bool *has_first)
{
	struct symbol_key key = scene->key;
	uint64_t found = 0;

	*has_first = count_kept(scene, &key) > 0;
	for (uint64_t i = 0; i < count; i++, key.image.inode++)
		found += count_kept(scene, &key) > 0;
	return found;
}

static void make_old(const struct scene *scene, uint64_t inode)
{
	const struct timespec times[2] = { { .tv_sec = 0 }, { .tv_sec = 0 } };
	struct symbol_key key = scene->key;
	char *name;

	key.image.inode = inode;
	symbol_cache_save(scene->cache, &key, scene->names);
	name = find_file(scene);
	assert_int_equal(utimensat(scene->folder, name, times, 0), 0);
	free(name);
}

/* Each nearly as large as a file may be. */
static void the_oldest_are_dropped(void **state)
{
	struct scene *scene = *state;
	struct symbol_key key = scene->key;
	uint64_t count = SYMBOL_CACHE_MAXIMUM / SYMBOL_CACHE_FILE_MAXIMUM + 2;
	bool has_first;

	add_many(scene, 1000);
	make_old(scene, key.image.inode);
	for (uint64_t i = 1; i < count; i++) {
		key.image.inode++;
		assert_int_equal(count_files(scene, i, &has_first), i);
		symbol_cache_save(scene->cache, &key, scene->names);
		symbol_cache_trim(scene->cache);
		if (!count_kept(scene, &scene->key))
			break;
	}
	assert_in_range(count_files(scene, count, &has_first), count / 2, count - 2);
	assert_false(has_first);
	/* The newest is no such. */
	assert_true(count_kept(scene, &key) > 0);
}

static int find_small(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libcmocka"))
		return 0;
	*(char **)data = xstrdup(info->dlpi_name);
	return 1;
}

static int copy_library(const struct scene *scene, const char *name, const char *from,
			const char *to)
{
	char *path = NULL;
	struct stat about;
	char *bytes;
	char *at;
	int fd;

	dl_iterate_phdr(find_small, &path);
	assert_non_null(path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &about), 0);
	bytes = xmalloc((size_t)about.st_size);
	assert_int_equal(read(fd, bytes, (size_t)about.st_size), about.st_size);
	close(fd);
	at = memmem(bytes, (size_t)about.st_size, from, strlen(from) + 1);
	assert_non_null(at);
	memcpy(at, to, strlen(to));
	fd = openat(scene->folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_int_equal(file_write(fd, bytes, (size_t)about.st_size), 0);
	free(bytes);
	free(path);
	return fd;
}

static void await_key(struct symbol_key *key, const struct elf_file *elf)
{
	/* A file that is being written may have this time twice. */
	assert_int_equal(symbol_key_set(key, elf, NULL), -1);
	for (int i = 0; symbol_key_set(key, elf, NULL) < 0; i++) {
		assert_true(i < SETTLE_SECONDS * 1000 / PAUSE_MILLISECONDS);
		poll(NULL, 0, PAUSE_MILLISECONDS);
	}
}

static void the_same_build_id_is_not_the_same_file(void **state)
{
	static const char name[] = "_cmocka_run_group_tests";
	const struct scene *scene = *state;
	int fds[2] = {
		copy_library(scene, "one", name, name),
		copy_library(scene, "two", name, "_cmocka_lies_about_it__"),
	};
	struct symbol_key keys[2];
	struct elf_file elves[2];

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(elf_file_read(&elves[i], fds[i]), 0);
		assert_true(elves[i].id_length > 0);
	}
	assert_memory_equal(elves[0].id, elves[1].id, elves[0].id_length);
	await_key(&keys[0], &elves[0]);
	for (int i = 0; symbol_key_set(&keys[1], &elves[1], NULL) < 0; i++)
		poll(NULL, 0, PAUSE_MILLISECONDS);
	symbol_cache_save(scene->cache, &keys[0], scene->names);
	assert_int_equal(count_kept(scene, &keys[0]), 3);
	assert_int_equal(count_kept(scene, &keys[1]), 0);
	/* The one that is written to again is another file, too. */
	assert_int_equal(pwrite(fds[0], "\177", 1, 0), 1);
	assert_int_equal(symbol_key_set(&keys[0], &elves[0], NULL), -1);
	elves[1].id_length = 0;
	assert_int_equal(symbol_key_set(&keys[1], &elves[1], NULL), -1);
	close(fds[0]);
	close(fds[1]);
}

static void without_a_folder_nothing_is_kept(void **state)
{
	struct scene *scene = *state;

	symbol_cache_free(scene->cache);
	scene->cache = symbol_cache_new();
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	symbol_cache_open(scene->cache);
	save(scene);
	assert_int_equal(count_kept(scene, &scene->key), 0);
	assert_int_equal(file_cache_folder("symbols"), -1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(file_cache_folder("symbols"), -1);
}

static void nothing_is_left_in_anothers_home(void **state)
{
	const struct scene *scene = *state;
	char *path = xasprintf("%s/other", scene->home);
	char *below = xasprintf("%s/new", path);

	if (geteuid() != 0) {
		puts("skip: only root can give a folder away");
		skip();
	}
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(chown(path, 1, 1), 0);
	setenv("XDG_CACHE_HOME", path, 1);
	assert_int_equal(file_cache_folder("symbols"), -1);
	setenv("XDG_CACHE_HOME", below, 1);
	assert_int_equal(file_cache_folder("symbols"), -1);
	assert_int_equal(rmdir(path), 0);
	free(path);
	free(below);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(what_was_kept_is_there),
		TEST(only_the_user_can_read_it),
		TEST(what_does_not_last_is_not_kept),
		TEST(another_file_has_other_names),
		TEST(a_file_is_believed_only_of_its_key),
		TEST(a_changed_byte_voids_it),
		TEST(what_others_may_write_is_not_read),
		TEST(a_link_is_not_followed),
		TEST(too_many_names_begin_anew),
		TEST(the_oldest_are_dropped),
		TEST(the_same_build_id_is_not_the_same_file),
		TEST(without_a_folder_nothing_is_kept),
		TEST(nothing_is_left_in_anothers_home),
	};

	return cmocka_run_group_tests_name("symbol-cache", tests, NULL, NULL);
}

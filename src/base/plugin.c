#include "base/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

/* The path of a shared object in the running program's folder, else in libexecdir; free() it. */
static char *plugin_find_file(const char *file)
{
	char *folder = file_program_folder();
	char *path = folder ? xasprintf("%s/%s", folder, file) : NULL;

	free(folder);
	if (path && access(path, F_OK) == 0)
		return path;
	free(path);
	return xasprintf(PROBETUI_LIBEXECDIR "/%s", file);
}

const void *plugin_open(const char *file, const char *name, const char *need, struct error *error)
{
	char *path = plugin_find_file(file);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const void *found = handle ? dlsym(handle, name) : NULL;

	if (!found)
		error_set(error, "%s: %s.", need, dlerror());
	free(path);
	return found;
}

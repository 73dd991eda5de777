#include "backends/module.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

const void *module_open(const char *file, const char *name, const char *need,
			struct error *error)
{
	char *folder = file_program_folder();
	const void *found;
	void *handle;
	char *path;

	if (!folder) {
		error_set(error, "The folder of probetui-node is not known.");
		return NULL;
	}
	path = xasprintf("%s/%s", folder, file);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	found = handle ? dlsym(handle, name) : NULL;
	if (!found)
		error_set(error, "%s: %s.", need, dlerror());
	free(path);
	free(folder);
	return found;
}

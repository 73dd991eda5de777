#include "backends/ptrace/unwinder.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include "banned.h"

#include "base/error.h"

#define FILE_NAME "probetui-native.so"

static int find_module(char *out, size_t size)
{
	char path[PATH_MAX];
	ssize_t got = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *end;

	path[got > 0 ? got : 0] = '\0';
	end = strrchr(path, '/');
	if (!end)
		return -1;
	*end = '\0';
	return snprintf(out, size, "%s/%s", path, FILE_NAME) < (int)size ? 0
									 : -1;
}

const struct unwind_module *unwinder_open(struct error *error)
{
	char path[PATH_MAX + 32];
	const struct unwind_module *module;
	void *handle;

	if (find_module(path, sizeof(path)) < 0) {
		error_set(error, "The folder of probetui-node is not known.");
		return NULL;
	}
	/* With it libdw would load a client that asks servers for files. */
	unsetenv("DEBUGINFOD_URLS");
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	module = handle ? dlsym(handle, UNWIND_MODULE_NAME) : NULL;
	if (!module)
		error_set(error,
			  "Native frames need " FILE_NAME " beside "
			  "probetui-node, and elfutils' libdw: %s.",
			  dlerror());
	return module;
}

#include "backends/native/unwinder.h"

#include <stdlib.h>

#include "banned.h"
#include "base/file.h"

#define FILE_NAME "probetui-native.so"

const struct unwind_module *unwinder_open(struct error *error)
{
	/* If DEBUGINFOD_URLS is set, libdw loads a client that requests files from servers. */
	unsetenv("DEBUGINFOD_URLS");
	return plugin_open(FILE_NAME, UNWIND_MODULE_NAME,
			   "native frames need " FILE_NAME
			   " beside probetui-node, and elfutils' libdw",
			   error);
}

/* A config file, and the same bytes as a theme. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/error.h"
#include "engine/configfile.h"
#include "engine/settings.h"
#include "tests/fuzz/fuzz.h"
#include "ui/theme.h"

static void read_config(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-config", MFD_CLOEXEC);
	struct error error = ERROR_INIT;
	struct settings settings;

	if (fd < 0)
		return;
	settings_init(&settings);
	settings.config = xasprintf("/proc/self/fd/%d", fd);
	if (fchmod(fd, 0600) == 0 && write(fd, data, size) == (ssize_t)size)
		configfile_apply(&settings, &error);
	settings_clear(&settings);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct error error = ERROR_INIT;
	struct theme theme;

	theme_init(&theme);
	theme_parse(&theme, text, "fuzz", &error);
	free(text);
	read_config(data, size);
	return 0;
}

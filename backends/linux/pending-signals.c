#include "backends/linux/pending-signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "base/array.h"
#include "base/buffer.h"

#define SIGNAL_MAXIMUM 64
#define BIT(number) (UINT64_C(1) << ((number) - 1))

/* signal(7): by default these are ignored, or continue the process. */
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

static const struct {
	const char *key;
	size_t offset;
} lines[] = {
	{ "SigPnd", offsetof(struct pending_signals, pending) },
	{ "ShdPnd", offsetof(struct pending_signals, shared) },
	{ "SigBlk", offsetof(struct pending_signals, blocked) },
	{ "SigIgn", offsetof(struct pending_signals, ignored) },
	{ "SigCgt", offsetof(struct pending_signals, caught) },
};

void pending_signals_parse(struct pending_signals *signals, const char *status)
{
	*signals = (struct pending_signals){ .pending = 0 };
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		const char *line = procfs_status_line(status, lines[i].key);
		uint64_t set = line ? strtoull(line, NULL, 16) : 0;

		memcpy((char *)signals + lines[i].offset, &set, sizeof(set));
	}
}

bool pending_signals_read(struct pending_signals *signals, struct procfs *procfs, pid_t tid)
{
	char *status;

	*signals = (struct pending_signals){ .pending = 0 };
	if (procfs_read(procfs, tid, "status", &status, NULL) < 0)
		return false;
	pending_signals_parse(signals, status);
	return true;
}

uint64_t pending_signals_that_count(const struct pending_signals *signals, uint64_t set)
{
	uint64_t ends = ~(HARMLESS | STOPS | signals->ignored);

	return set & (signals->caught | ends) & ~(HARMLESS | BIT(SIGTRAP));
}

void pending_signals_append(struct buffer *out, uint64_t set)
{
	const char *between = "";

	for (int number = 1; number <= SIGNAL_MAXIMUM; number++) {
		const char *name = sigabbrev_np(number);

		if (!(set & BIT(number)))
			continue;
		if (name)
			buffer_printf(out, "%sSIG%s", between, name);
		else
			buffer_printf(out, "%ssignal %d", between, number);
		between = ", ";
	}
}

#include "model/c-call.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

struct c_call_row {
	const char *call; /* text that ends in '*': all calls that begin so */
	enum activity_kind kind;
	bool is_collective;
	bool is_polling;
	const char *name; /* NULL: from the call, as short_name() */
};

/* The first row that matches counts. */
static const struct c_call_row rows[] = {
	{ "torch._C._distributed_c10d.*", ACTIVITY_PEERS, true, false, NULL },
	{ "torch._C._distributed_rpc.*", ACTIVITY_PEERS, true, false, NULL },
	{ "torch._C.Future.wait", ACTIVITY_PEERS, true, false, NULL },
	{ "torch.futures.Future.wait", ACTIVITY_PEERS, true, false, NULL },
	/* Implementations of MPI poll, and yield. */
	{ "mpi4py.MPI.*", ACTIVITY_PEERS, true, true, NULL },

	{ "torch._C._cuda_synchronize", ACTIVITY_LOCK, false, false, "cuda synchronize" },
	{ "torch._C._CudaStreamBase.synchronize", ACTIVITY_LOCK, false, false, "cuda synchronize" },
	{ "torch._C._CudaEventBase.synchronize", ACTIVITY_LOCK, false, false, "cuda synchronize" },
	{ "torch.cuda.streams.*", ACTIVITY_LOCK, false, false, "cuda synchronize" },

	{ "_thread.lock.acquire", ACTIVITY_LOCK, false, false, "Lock.acquire" },
	{ "_thread.lock.__enter__", ACTIVITY_LOCK, false, false, "Lock.acquire" },
	{ "_thread.RLock.acquire", ACTIVITY_LOCK, false, false, "RLock.acquire" },
	{ "_thread.RLock.__enter__", ACTIVITY_LOCK, false, false, "RLock.acquire" },
	{ "_thread._ThreadHandle.join", ACTIVITY_LOCK, false, false, "thread join" },
	{ "_multiprocessing.SemLock.acquire", ACTIVITY_LOCK, false, false, NULL },
	{ "_multiprocessing.SemLock.__enter__", ACTIVITY_LOCK, false, false, "SemLock.acquire" },
	{ "_queue.SimpleQueue.get", ACTIVITY_LOCK, false, false, NULL },
	{ "select.*", ACTIVITY_LOCK, false, false, NULL },
	{ "posix.wait*", ACTIVITY_LOCK, false, false, NULL },
	{ "time.sleep", ACTIVITY_SLEEP, false, false, NULL },

	{ "socket.socket._accept", ACTIVITY_PEERS, false, false, "socket.accept" },
	{ "socket.socket.*", ACTIVITY_PEERS, false, false, NULL },
	{ "_socket.socket.*", ACTIVITY_PEERS, false, false, NULL },

	{ "_io.open", ACTIVITY_READ, false, false, "open" },
	{ "io.open", ACTIVITY_READ, false, false, "open" },
	/* The kind of what no row has comes from the system call. */
	{ "builtins.input", ACTIVITY_READ, false, false, "input" },
};

static bool row_matches(const struct c_call_row *row, const char *call)
{
	size_t length = strlen(row->call);

	if (row->call[length - 1] == '*')
		return strncmp(call, row->call, length - 1) == 0;
	return strcmp(call, row->call) == 0;
}

/*
 * Returns the last two parts of the call: a type or a module, without the underscores of a module
 * that Python imports under another name, and the function. A type that is called stands alone.
 */
static const char *short_name(const char *call)
{
	const char *part = call;
	const char *last = call;

	for (const char *dot = strchr(call, '.'); dot; dot = strchr(dot + 1, '.')) {
		part = last;
		last = dot + 1;
	}
	if (isupper((unsigned char)last[0]) || strncmp(part, "builtins.", strlen("builtins.")) == 0)
		return last;
	part += strspn(part, "_");
	return part < last ? part : last;
}

struct c_call c_call_find(const char *call)
{
	static const char posix[] = "posix.";
	struct c_call found = { .kind = ACTIVITY_UNKNOWN };
	const char *name = short_name(call);

	/* The module posix is known as os. */
	if (strncmp(name, posix, strlen(posix)) == 0)
		snprintf(found.name, sizeof(found.name), "os.%s", name + strlen(posix));
	else
		snprintf(found.name, sizeof(found.name), "%s", name);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		if (!row_matches(&rows[i], call))
			continue;
		found.kind = rows[i].kind;
		found.is_collective = rows[i].is_collective;
		found.is_polling = rows[i].is_polling;
		if (rows[i].name)
			snprintf(found.name, sizeof(found.name), "%s", rows[i].name);
		break;
	}
	return found;
}

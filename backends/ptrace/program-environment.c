/*
 * program-environment: what a running program knows of its rank: the default process group of
 * torch.distributed, the process number of jax.distributed, and os.environ. All three are objects
 * in the memory of the program; no code of the program runs.
 */
#include <string.h>

#include "backends/backend.h"
#include "backends/c10d/c10d.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/sys-modules.h"
#include "backends/discover/environment.h"
#include "backends/linux/memory.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/ptrace/reader.h"
#include "banned.h"
#include "base/buffer.h"

static bool is_rank_variable(const char *name, void *data)
{
	(void)data;
	return environment_is_known(name);
}

static void take_variable(const char *name, const char *value, void *data)
{
	environment_set(data, name, value);
}

static void read_variables(struct pyreader *reader, uint64_t interpreter,
			   struct environment *environment)
{
	struct pyenviron_query query = {
		.is_wanted = is_rank_variable,
		.found = take_variable,
		.data = environment,
	};

	pyenviron_each(reader, interpreter, &query);
}

static void read_group(struct pyreader *reader, uint64_t interpreter,
		       struct environment *environment)
{
	int rank, size;

	if (c10d_default_group(reader, interpreter, &rank, &size) == 0)
		environment_set_group(environment, FAMILY_GROUP, rank, size);
}

/* The address of jax's coordinator, "HOST:PORT", names the job as MASTER_ADDR and MASTER_PORT do.
 */
static void read_coordinator(struct pyreader *reader, uint64_t state,
			     struct environment *environment)
{
	struct buffer text = BUFFER_INIT;
	uint64_t object;
	char *colon;

	if (pyobject_attribute(reader, state, "coordinator_address", &object) == 0 &&
	    pyobject_string(reader, object, ENVIRONMENT_TEXT, &text) == 0 &&
	    (colon = strrchr(text.data, ':'))) {
		*colon = '\0';
		environment_set(environment, "MASTER_ADDR", text.data);
		environment_set(environment, "MASTER_PORT", colon + 1);
	}
	buffer_clear(&text);
}

/*
 * jax._src.distributed.global_state is an instance whose attributes jax.distributed.initialize()
 * sets; before that call the instance has no process_id, only its class has.
 */
static void read_jax(struct pyreader *reader, uint64_t interpreter, struct environment *environment)
{
	uint64_t state, object;
	int64_t rank, size;

	if (pymodule_find(reader, interpreter, "jax._src.distributed", "global_state", &state) <
		    0 ||
	    pyobject_attribute(reader, state, "process_id", &object) < 0 ||
	    pyobject_integer(reader, object, &rank) < 0 ||
	    pyobject_attribute(reader, state, "num_processes", &object) < 0 ||
	    pyobject_integer(reader, object, &size) < 0)
		return;
	environment_set_group(environment, FAMILY_JAX, rank, size);
	if (environment_family(environment) == FAMILY_JAX)
		read_coordinator(reader, state, environment);
}

void ptrace_environment(struct connection *base, struct environment *environment)
{
	struct ptrace_connection *connection = (struct ptrace_connection *)base;
	struct memory *memory = connection->environment;
	uint64_t interpreter = ptrace_main_interpreter(connection);
	struct pyreader reader;

	memory_take_failure(memory);
	if (interpreter == 0)
		return;
	/* Prefetched: some hundred blocks, of which few have changed since the last look. */
	memory_begin(memory, true);
	pyreader_init(&reader, memory, &connection->python);
	read_variables(&reader, interpreter, environment);
	pyreader_init(&reader, memory, &connection->python);
	read_group(&reader, interpreter, environment);
	read_jax(&reader, interpreter, environment);
	procfs_note(node_procfs(connection->base.node), memory_take_failure(memory));
}

#include "commands/commands.h"

#include "banned.h"
#include "base/array.h"
#include "engine/command.h"

#define POINTER(name) &command_##name,
static const struct command *const rows[] = { ENGINE_COMMANDS(POINTER) };
const struct command_table engine_commands = { .rows = rows, .count = ARRAY_LENGTH(rows) };

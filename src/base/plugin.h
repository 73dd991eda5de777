/*
 * plugin: a shared object that links a heavy library, in the program's folder or in
 * libexecdir, opened with dlopen(3) at its first use.
 */
#ifndef BASE_PLUGIN_H
#define BASE_PLUGIN_H

struct error;

/*
 * Returns the address of the symbol `name` in the shared object `file`, valid as long as
 * the program runs. NULL: *error begins with `need` ("Agents need FILE").
 */
const void *plugin_open(const char *file, const char *name, const char *need, struct error *error);

#endif

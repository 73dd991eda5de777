/*
 * plugin: the parts of the node that link a heavy library, in files of their
 * own beside the program or in the folder of probetui-node, loaded when they are
 * first needed.
 */
#ifndef BACKENDS_PLUGIN_H
#define BACKENDS_PLUGIN_H

struct error;

/*
 * Lends what the file gives under that name, for as long as the program runs;
 * NULL and a sentence, which begins with `need` ("Agents need FILE").
 */
const void *module_open(const char *file, const char *name, const char *need, struct error *error);

#endif

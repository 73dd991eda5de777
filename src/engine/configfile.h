/*
 * configfile: the config file, lines "NAME VALUE" in the words of the option
 * table. Only a regular file of this user (or root) that nobody else can
 * write is believed.
 */
#ifndef ENGINE_CONFIGFILE_H
#define ENGINE_CONFIGFILE_H

struct error;
struct settings;

/*
 * Reads settings->config, else the usual file if there is one, into settings
 * that the command line left unset. -1 and a sentence with the line.
 */
int configfile_apply(struct settings *settings, struct error *error);

#endif

/*
 * configfile: the config file, command lines of three kinds:
 *
 *	set NAME VALUE		a setting (engine/setting.h)
 *	theme NAME		short for set theme NAME
 *	bind KEY COMMAND…	what a key of the screen does
 *
 * and, as it was once, NAME VALUE for set NAME VALUE. Words are quoted, and
 * comments begun, as on any command line. Only a regular file of this user
 * (or root) that no other user can write is believed.
 */
#ifndef ENGINE_CONFIGFILE_H
#define ENGINE_CONFIGFILE_H

struct error;
struct settings;

/*
 * Reads settings->config, else the usual file if there is one, into settings.
 * -1 and a sentence with the line; two lines that contradict each other are
 * an error too. Whether a theme or a command exists, and a key, is for the
 * screen's tables to say: the lines are kept in settings.
 */
int configfile_apply(struct settings *settings, struct error *error);

#endif

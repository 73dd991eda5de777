/*
 * configfile: the config file. Each line is a command of one of three kinds:
 *
 *	set NAME VALUE		a setting (engine/setting.h)
 *	theme NAME		short for set theme NAME
 *	bind KEY COMMAND…	what a key of the screen does
 *
 * and NAME VALUE, the older form of set NAME VALUE. Quotes and comments work as on any command
 * line. Only a regular file that belongs to this user (or root) and that no other user can write is
 * accepted.
 */
#ifndef ENGINE_CONFIGFILE_H
#define ENGINE_CONFIGFILE_H

struct error;
struct settings;

/*
 * Reads settings->config, else the usual file if there is one, into settings. -1 and a sentence
 * with the line number; two lines that contradict each other are an error too. The screen checks
 * themes, keys and commands later: settings keeps these lines.
 */
int configfile_apply(struct settings *settings, struct error *error);

#endif

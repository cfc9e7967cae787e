/*
 * Finds the files that belong to this program, which are the programs it runs and the libraries it loads at
 * run time. The search uses absolute paths near the program only, and accepts a file only if it is as
 * trustworthy as the code that already runs.
 */
#pragma once

#include <limits.h>

typedef enum { KS_FOUND, KS_ABSENT, KS_STRANGE } ks_finding;

/*
 * Classifies the file at an absolute path. The path must name a regular file that this process may read, or
 * execute if run is 1. A file is STRANGE if everybody can write to it, or if it belongs neither to root, nor
 * to this user, nor to the owner of the file `owner` (or NULL).
 */
ks_finding ks_beside_look(const char *path, int run, const char *owner);

/*
 * Returns the absolute path of the file that contains this library. Returns NULL if the loader knows only a
 * relative path, which would name another file after a chdir().
 */
const char *ks_beside_own(void);

/*
 * Looks for `name` in the directories of the running program and of this library, and in the directories that
 * `subs` names relative to them, such as "../libexec/". The list subs ends with NULL. Returns the kind of
 * file found and writes its path. A STRANGE file is reported only if no other one is found.
 */
ks_finding ks_beside_find(const char *name, const char *const *subs, int run, char path[PATH_MAX]);

/*
 * Looks for a plugin near the program, in the directory of libraries next to it, and in the installation
 * directory.
 */
ks_finding ks_beside_plugin(const char *name, char path[PATH_MAX]);

/*
 * Files that belong to this program: what it runs or loads at run time. They are looked for near it, by
 * absolute paths only, and taken only where they are as trustworthy as what runs already.
 */
#pragma once

#include <limits.h>

typedef enum { KS_FOUND, KS_ABSENT, KS_STRANGE } ks_finding;

/*
 * Is there a regular file at this absolute path that may be read (run: executed)? STRANGE: it belongs neither
 * to root nor to this user nor to the owner of the file `owner` (or NULL), or everybody can write to it.
 */
ks_finding ks_beside_look(const char *path, int run, const char *owner);

/* The file that this library was loaded from, or NULL: a relative name means another one after a chdir(). */
const char *ks_beside_own(void);

/*
 * Looks for `name` in the directories of the running program and of this library, and in those that `subs`
 * (ends with NULL) names below them, such as "../libexec/". What was found, with its path; a STRANGE file is
 * passed over where there is another, and its path is given where there is not.
 */
ks_finding ks_beside_find(const char *name, const char *const *subs, int run, char path[PATH_MAX]);

/* The same of a plugin: near, in the directory of libraries beside it, or where it was to be installed */
ks_finding ks_beside_plugin(const char *name, char path[PATH_MAX]);

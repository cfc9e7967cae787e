/* All objects below a group, depth first, in the order of their names. */
#pragma once

#include <hdf5.h>

/* Called for each object, under its path; nonzero: leave out what is in it. */
typedef int walk_visit(hid_t object, const char *path, void *ctx);

/*
 * Paths begin with `prefix`, which is that of the group, with a final slash. Hard links alone are followed,
 * and no group twice, so that a file whose groups contain each other ends. An object is opened in its own
 * group: its whole path would be looked up anew, at a cost that grows with its depth (H5Lvisit does that:
 * 3000 nested groups take minutes).
 */
void walk_tree(hid_t group, const char *prefix, walk_visit *visit, void *ctx);

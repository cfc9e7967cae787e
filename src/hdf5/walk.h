/* Walks through all objects below a group, depth first, in the order of their names. */
#pragma once

#include <hdf5.h>

/*
 * The callback for each object, with its path. If it returns nonzero, the walk skips the contents of the
 * object.
 */
typedef int walk_visit(hid_t object, const char *path, void *ctx);

/*
 * Paths begin with `prefix`, the group's own path with a final slash. The walk follows hard links only, and
 * enters each group once, so that it ends even if groups contain each other. It opens an object relative to
 * its own group. HDF5 looks up a whole path from the root again each time, at a cost that grows with the
 * depth (H5Lvisit does that: 3000 nested groups take minutes).
 */
void walk_tree(hid_t group, const char *prefix, walk_visit *visit, void *ctx);

/*
 * Finds out how much memory this process may still allocate. The result is the machine's free memory, reduced
 * by the limits set for the process.
 */
#pragma once

#include <stddef.h>

/*
 * Returns the smallest of three amounts of memory: MemAvailable, the rest that the control groups of this
 * process (version 1 or 2, every ancestor) allow, and the rest that RLIMIT_AS and RLIMIT_DATA allow. Returns
 * SIZE_MAX if none of them is known. `root` is a prefix of all paths, and is "" except in tests.
 */
size_t ks_limits_available(const char *root);

/* How much memory this process may still take: what the machine has, less what limits forbid. */
#pragma once

#include <stddef.h>

/*
 * The least of: MemAvailable; what the control groups of this process (version 1 or 2, every ancestor) leave;
 * what RLIMIT_AS and RLIMIT_DATA leave. SIZE_MAX where nothing is known. Files are read below `root`, which
 * is "" but in tests.
 */
size_t ks_limits_available(const char *root);

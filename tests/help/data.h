/* Real data, which are not part of the project. */
#ifndef KSPEC_DATA_HELP_H
#define KSPEC_DATA_HELP_H

#include <unistd.h>

#include "test.h"

/* The path of a file in the first folder that has it, or NULL. */
static inline const char *find_data(const char *file) {
    static char path[4096];
    const char *folders[] = {getenv("KSPEC_DATA"), TEST_SOURCE_DIR "/data",
                             TEST_SOURCE_DIR "/../shared/data"};
    for (int k = 0; k < 3; k++) {
        if (!folders[k]) continue;
        snprintf(path, sizeof path, "%s/%s", folders[k], file);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* Ends a test for which a file is missing, and says how to get it. */
#define SKIP_WITHOUT(file)                                                                   \
    do {                                                                                     \
        if (strncmp(file, "v4/", 3) == 0)                                                    \
            SKIP("no %s; put the V4 recording (Cowley et al. 2023) at data/%s", file, file); \
        SKIP("no %s; run 'make data'", file);                                                \
    } while (0)

#endif

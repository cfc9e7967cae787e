/* Reads the memory limits of this process from the system. */
#include "base/limits.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 4096, LINE = 512 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/*
 * Reads the number after `key` at the start of a line of a file. If key is NULL, reads the file's first
 * number. Returns 0 if the file has no such number.
 */
static int read_number(const char *root, const char *folder, const char *file, const char *key,
                       size_t *value) {
    char name[PATH], line[LINE];
    if (snprintf(name, sizeof name, "%s%s/%s", root, folder, file) >= (int)sizeof name) return 0;
    FILE *f = fopen(name, "r");
    size_t skip = key ? strlen(key) : 0;
    int found = 0;
    while (f && !found && fgets(line, sizeof line, f)) {
        if (key && strncmp(line, key, skip) != 0) continue;
        found = sscanf(line + skip, "%zu", value) == 1;
        if (!key) break;
    }
    if (f) fclose(f);
    return found;
}

/*
 * Returns the memory that one control group still allows, which is its limit minus its use, not counting
 * cached files that the kernel can drop. If the limit is "max", which is not a number, the group allows
 * everything. So does the near-infinite value of version 1.
 */
static size_t group_leaves(const char *root, const char *folder, const char *limit, const char *usage,
                           const char *reclaimable) {
    size_t most, used, cache;
    if (!read_number(root, folder, limit, NULL, &most)) return SIZE_MAX;
    if (!read_number(root, folder, usage, NULL, &used)) used = 0;
    if (!read_number(root, folder, "memory.stat", reclaimable, &cache) || cache > used) cache = 0;
    used -= cache;
    return most > used ? most - used : 0;
}

/* Returns the memory that the group at base/group and all its ancestors allow. */
static size_t groups_leave(const char *root, const char *base, const char *group, const char *limit,
                           const char *usage, const char *reclaimable) {
    char folder[PATH];
    size_t leaves = SIZE_MAX, top = strlen(base);
    if (snprintf(folder, sizeof folder, "%s%s", base, group) >= (int)sizeof folder) return SIZE_MAX;
    for (;;) {
        leaves = least(leaves, group_leaves(root, folder, limit, usage, reclaimable));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash || (size_t)(slash - folder) < top) return leaves;
        *slash = 0;
    }
}

/* Reads /proc/self/cgroup, which has a line "0::/group" for version 2 and "7:memory:/group" for version 1. */
static size_t control_groups(const char *root) {
    char name[PATH], line[LINE];
    size_t leaves = SIZE_MAX;
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *kind = strchr(line, ':'), *group = kind ? strchr(kind + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        if (strcmp(group, "/") == 0) group = "";
        if (kind[1] == 0)
            leaves = least(leaves, groups_leave(root, "/sys/fs/cgroup", group, "memory.max", "memory.current",
                                                "inactive_file "));
        else if (strcmp(kind + 1, "memory") == 0)
            leaves = least(leaves, groups_leave(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
                                                "memory.usage_in_bytes", "total_inactive_file "));
    }
    if (f) fclose(f);
    return leaves;
}

/*
 * Returns the memory that a resource limit still allows. `key` names the line of /proc/self/status with the
 * present use.
 */
static size_t resource_leaves(const char *root, int resource, const char *key) {
    struct rlimit limit;
    size_t used = 0;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    if (read_number(root, "/proc/self", "status", key, &used)) used = ks_size(used, 1024);
    return limit.rlim_cur > used ? (size_t)limit.rlim_cur - used : 0;
}

size_t ks_limits_available(const char *root) {
    size_t kib, bytes = SIZE_MAX;
    if (read_number(root, "/proc", "meminfo", "MemAvailable:", &kib))
        bytes = ks_size(kib, 1024);
    else if (!*root && sysconf(_SC_PHYS_PAGES) > 0) /* used or not */
        bytes = ks_size((size_t)sysconf(_SC_PHYS_PAGES), (size_t)sysconf(_SC_PAGESIZE));
    bytes = least(bytes, control_groups(root));
    bytes = least(bytes, resource_leaves(root, RLIMIT_AS, "VmSize:"));
    return least(bytes, resource_leaves(root, RLIMIT_DATA, "VmData:"));
}

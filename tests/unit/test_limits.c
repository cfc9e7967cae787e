/* Memory that may still be taken, under fake files of /proc and /sys and under real resource limits. */
#include "base/limits.h"
#include "test.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "limits-XXXXXX";

static void put(const char *path, const char *text) {
    char name[300];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(name, 0777);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f) fclose(f);
}

static void drop(const char *path) {
    char name[300];
    snprintf(name, sizeof name, "%s%s", root, path);
    unlink(name);
}

TEST(nothing_known) { CHECK(ks_limits_available(root) == SIZE_MAX); }

TEST(the_machine) {
    put("/proc/meminfo", "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n");
    CHECK(ks_limits_available(root) == 1024000);
}

TEST(control_groups_of_version_2) {
    put("/proc/self/cgroup", "0::/user/job\n");
    CHECK(ks_limits_available(root) == 1024000);
    put("/sys/fs/cgroup/user/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user/job/memory.current", "500000\n");
    CHECK(ks_limits_available(root) == 1024000);
    put("/sys/fs/cgroup/user/job/memory.max", "900000\n");
    CHECK(ks_limits_available(root) == 400000);
    /* the page cache that could be dropped counts as free */
    put("/sys/fs/cgroup/user/job/memory.stat", "anon 400000\nfile 100000\ninactive_file 60000\n");
    CHECK(ks_limits_available(root) == 460000);
    /* an ancestor may leave less */
    put("/sys/fs/cgroup/user/memory.max", "700000\n");
    put("/sys/fs/cgroup/user/memory.current", "650000\n");
    CHECK(ks_limits_available(root) == 50000);
    put("/sys/fs/cgroup/user/memory.current", "700001\n");
    CHECK(ks_limits_available(root) == 0);
    drop("/sys/fs/cgroup/user/memory.max");
    /* in a container the group is the root of what is seen */
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "300000000\n");
    CHECK(ks_limits_available(root) == 1024000);
    put("/sys/fs/cgroup/memory.max", "300000\n");
    CHECK(ks_limits_available(root) == 300000);
    drop("/sys/fs/cgroup/memory.max");
}

TEST(control_groups_of_version_1) {
    put("/proc/self/cgroup", "11:cpu,cpuacct:/x\n7:memory:/job\n0::/x\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "100000\n");
    CHECK(ks_limits_available(root) == 1024000);
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "300000\n");
    CHECK(ks_limits_available(root) == 200000);
    put("/sys/fs/cgroup/memory/job/memory.stat", "cache 1\ntotal_inactive_file 40000\n");
    CHECK(ks_limits_available(root) == 240000);
    put("/proc/self/cgroup", "not a line\n");
    CHECK(ks_limits_available(root) == 1024000);
}

/* In a child, since a limit cannot be taken back. */
static int left_under(int resource, size_t limit) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit r = {limit, limit};
        setrlimit(resource, &r);
        size_t left = ks_limits_available("");
        _exit(left < limit && left > 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(resource_limits) {
    const size_t limit =
        (size_t)1 << 47; /* all that can be mapped: ThreadSanitizer has nearly 100 TB of it */
    CHECK(ks_limits_available("") > 0);
    CHECK(left_under(RLIMIT_DATA, limit) == 0);
    CHECK(left_under(RLIMIT_AS, limit) == 0);
}

int main(void) {
    CHECK(mkdtemp(root) != NULL);
    RUN(nothing_known);
    RUN(the_machine);
    RUN(control_groups_of_version_2);
    RUN(control_groups_of_version_1);
    RUN(resource_limits);
    char command[60];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0);
    return test_done();
}

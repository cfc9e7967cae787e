/*
 * A large row-major f8 .npy file is mapped, not copied: reading 2 GiB costs less than 100 MB of memory of the
 * process's own. The file is sparse: all zeros, and hardly any disk.
 */
#include "kspec.h"
#include "test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROWS = 1 << 14, COLS = 1 << 14, LIMIT = 100 << 20 };
#define BYTES ((off_t)ROWS * COLS * (off_t)sizeof(double))

static char path[] = "/tmp/kspec-large-XXXXXX";

static void make_file(void) {
    char dict[118];
    int n = snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", ROWS,
                     COLS);
    memset(dict + n, ' ', sizeof dict - (size_t)n);
    dict[sizeof dict - 1] = '\n';
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "\x93NUMPY\1\0\x76\0", 10) == 10 &&
          write(fd, dict, sizeof dict) == sizeof dict);
    CHECK(ftruncate(fd, 128 + BYTES) == 0);
    close(fd);
}

/* A line of /proc/self/status, in bytes; 0 where there is none. */
static size_t status_of(const char *key) {
    char line[200];
    size_t kb = 0, length = strlen(key);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, length) == 0) kb = strtoul(line + length, NULL, 10);
    if (f) fclose(f);
    return kb << 10;
}

/* The process may not get more than `more` bytes of memory that is not a file's. Returns what held before. */
static struct rlimit limit_data(size_t more) {
    struct rlimit before, now;
    getrlimit(RLIMIT_DATA, &before);
    now = before;
    now.rlim_cur = status_of("VmData:") + more;
    CHECK(setrlimit(RLIMIT_DATA, &now) == 0);
    return before;
}

TEST(two_gigabytes_are_mapped) {
    if (!status_of("RssAnon:")) SKIP("no /proc/self/status here");
    const char *inputs[] = {path};
    kspec_dataset *d;
    kspec_error err;
    size_t before = status_of("RssAnon:");
    struct rlimit old = {0};
    if (!SANITIZED) old = limit_data(LIMIT);
    kspec_status st = kspec_read(inputs, 1, NULL, &d, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    size_t after = status_of("RssAnon:");
    CHECK_MSG(after < before + LIMIT, "%zu bytes of its own before, %zu after", before, after);
    if (!st) {
        CHECK(d->rows == ROWS && d->cols == COLS && d->trials == 1);
        CHECK(d->data[0] == 0 && d->data[(size_t)ROWS * COLS - 1] == 0);
    }
    kspec_free(d);

    /* the limit bites: the same matrix asked for the other way round has to be copied */
    if (!SANITIZED) {
        kspec_read_opts opts = {.size = sizeof opts, .axes = "cols,rows"};
        CHECK_FAILS(kspec_read(inputs, 1, &opts, &d, &err), KSPEC_E_NOMEM, err, "memory");
        setrlimit(RLIMIT_DATA, &old);
    }
}

int main(void) {
    make_file();
    RUN(two_gigabytes_are_mapped);
    unlink(path);
    return test_done();
}

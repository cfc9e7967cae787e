/* Reads the bytes of a file. A regular file is mapped; anything else, such as a pipe, is read to its end. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local int never_maps;
static _Thread_local kspec_progress waiter;

void ks_bytes_host(int copies, kspec_progress waiting) {
    never_maps = copies;
    waiter = waiting;
}

kspec_status ks_bytes_waits(kspec_error *err) {
    return waiter.report && waiter.report(waiter.ctx, 0) ? ks_fail(err, KSPEC_E_CANCELLED, "cancelled")
                                                         : KSPEC_OK;
}

void ks_bytes_close(ks_bytes *b) {
    if (b->map) munmap(b->map, b->map_size);
    ks_free(b->heap);
    ks_free(b->path);
    *b = (ks_bytes){0};
}

static int changed(const struct stat *a, const struct stat *b) {
    return a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
           a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

static kspec_status refuse_changed(const char *what, kspec_error *err) {
    return ks_fail(err, KSPEC_E_IO, "%s changed while it was read", what);
}

kspec_status ks_bytes_check(const ks_bytes *b, kspec_error *err) {
    struct stat now;
    if (!b->path || stat(b->path, &now) != 0) return KSPEC_OK;
    if (now.st_dev != b->seen.st_dev || now.st_ino != b->seen.st_ino || !changed(&now, &b->seen))
        return KSPEC_OK;
    ks_name what;
    return refuse_changed(ks_display_name(what, b->path), err);
}

/* Waits until data or the end of the input arrives. */
static kspec_status wait_for(int fd, kspec_error *err) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    kspec_status st = KSPEC_OK;
    while (!st && waiter.report) {
        const int ready = poll(&p, 1, 100);
        if (ready > 0 || (ready < 0 && errno != EINTR)) break;
        st = ks_bytes_waits(err);
    }
    return st;
}

/* Reads to the end into a buffer that doubles, so that all copies together cost no more than the reading. */
static kspec_status read_all(ks_bytes *b, int fd, const char *what, kspec_error *err) {
    size_t capacity = 1 << 16, size = 0;
    unsigned char *heap = ks_alloc(capacity, 1);
    if (!heap) return ks_nomem(err, what, capacity);
    for (;;) {
        kspec_status st = wait_for(fd, err);
        if (st) {
            ks_free(heap);
            return st;
        }
        ssize_t got = read(fd, heap + size, capacity - size);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) {
            ks_free(heap);
            return ks_fail(err, KSPEC_E_IO, "cannot read %s: %s", what, strerror(errno));
        }
        if (got == 0) break;
        size += (size_t)got;
        if (size < capacity) continue;
        unsigned char *larger = ks_alloc(capacity, 2);
        if (!larger) {
            ks_free(heap);
            return ks_nomem(err, what, ks_size(capacity, 2));
        }
        memcpy(larger, heap, size);
        ks_free(heap);
        heap = larger;
        capacity *= 2;
    }
    *b = (ks_bytes){.data = heap, .size = size, .heap = heap};
    return KSPEC_OK;
}

/*
 * Maps the file. If the file cannot be mapped, *b stays empty, without an error, and the caller reads the
 * file instead.
 */
static void map_all(ks_bytes *b, int fd, const char *path, const struct stat *st) {
    /* A redirected standard input may begin in the middle of its file. Files in /proc report a size of 0. */
    if (never_maps || !S_ISREG(st->st_mode) || st->st_size <= 0 || lseek(fd, 0, SEEK_CUR) != 0) return;
    size_t size = (size_t)st->st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return;
    *b = (ks_bytes){.data = map, .size = size, .map = map, .map_size = size, .seen = *st};
    if ((b->path = ks_alloc(strlen(path) + 1, 1))) strcpy(b->path, path);
}

kspec_status ks_bytes_open(ks_bytes *b, const char *path, kspec_error *err) {
    *b = (ks_bytes){0};
    int standard = strcmp(path, "-") == 0;
    ks_name what;
    ks_display_name(what, path);
    /* Without O_NONBLOCK, open() waits for a writer of a FIFO, and the host could not cancel the wait. */
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | (waiter.report ? O_NONBLOCK : 0));
    if (fd < 0) return ks_fail(err, KSPEC_E_IO, "cannot open %s: %s", what, strerror(errno));

    kspec_status status = KSPEC_OK;
    struct stat st;
    if (fstat(fd, &st) != 0)
        status = ks_fail(err, KSPEC_E_IO, "cannot read %s: %s", what, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        status = ks_fail(err, KSPEC_E_IO, "cannot read %s: %s", what, strerror(EISDIR));
    else {
        struct stat after;
        map_all(b, fd, path, &st);
        if (!b->map) status = read_all(b, fd, what, err);
        if (!status && !b->map && S_ISREG(st.st_mode) && fstat(fd, &after) == 0 && changed(&st, &after)) {
            ks_bytes_close(b);
            status = refuse_changed(what, err);
        }
    }
    if (!standard) close(fd);
    if (status == KSPEC_OK && b->size == 0) {
        ks_bytes_close(b);
        status = ks_fail(err, KSPEC_E_IO, "%s is empty", what);
    }
    return status;
}

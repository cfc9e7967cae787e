/* The bytes of a file: a regular file is mapped, anything else (pipe, terminal) is read to its end. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void ks_bytes_close(ks_bytes *b) {
    if (b->map) munmap(b->map, b->map_size);
    ks_free(b->heap);
    *b = (ks_bytes){0};
}

/* Reads to the end into memory that doubles, so that the copies cost no more than the reading. */
static kspec_status read_all(ks_bytes *b, int fd, const char *what, kspec_error *err) {
    size_t capacity = 1 << 16, size = 0;
    unsigned char *heap = ks_alloc(capacity, 1);
    if (!heap) return ks_nomem(err, what, capacity);
    for (;;) {
        ssize_t got = read(fd, heap + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
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

/* Leaves *b empty, and no error, where the file cannot be mapped: the caller then reads it. */
static void map_all(ks_bytes *b, int fd, const struct stat *st) {
    /* a redirected standard input may stand in the middle of its file; /proc files say they have no bytes */
    if (!S_ISREG(st->st_mode) || st->st_size <= 0 || lseek(fd, 0, SEEK_CUR) != 0) return;
    size_t size = (size_t)st->st_size;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) *b = (ks_bytes){.data = map, .size = size, .map = map, .map_size = size};
}

kspec_status ks_bytes_open(ks_bytes *b, const char *path, kspec_error *err) {
    *b = (ks_bytes){0};
    int standard = strcmp(path, "-") == 0;
    ks_name what;
    ks_display_name(what, path);
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ks_fail(err, KSPEC_E_IO, "cannot open %s: %s", what, strerror(errno));

    kspec_status status = KSPEC_OK;
    struct stat st;
    if (fstat(fd, &st) != 0)
        status = ks_fail(err, KSPEC_E_IO, "cannot read %s: %s", what, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        status = ks_fail(err, KSPEC_E_IO, "cannot read %s: %s", what, strerror(EISDIR));
    else {
        map_all(b, fd, &st);
        if (!b->map) status = read_all(b, fd, what, err);
    }
    if (!standard) close(fd);
    if (status == KSPEC_OK && b->size == 0) {
        ks_bytes_close(b);
        status = ks_fail(err, KSPEC_E_IO, "%s is empty", what);
    }
    return status;
}

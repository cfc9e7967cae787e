/* Reads and writes the parts of a checkpoint. A part is a list of words of 8 bytes in the machine's
 * order: magic number, version, digest of the identity, loop, chunks of the loop, number of records. Then
 * each record follows: the number of the chunk, its number of bytes, and these bytes, padded to a word.
 * The last word is a checksum of all words before it. */
#include "team/store.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "write/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, HEAD = 6, IDENTITY_MAX = 1 << 14, NAME = 64 };
static const uint64_t MAGIC = UINT64_C(0x706565706365706b);

double ks_store_interval = 1;

typedef struct {
    uint64_t loop;
    char name[NAME];
} part;

struct ks_store {
    char *dir;
    uint64_t identity;
    /* the parts that the checkpoint contained when it was opened, in the order of loops */
    part *parts;
    size_t count, room;
    /* The lock guards the fields below, which hold finished chunks that are not yet written. */
    pthread_mutex_t lock;
    size_t *waiting, waits, waiting_room;
    double began, written;
};

/* ---- the directory ---- */

static kspec_status path_of(const ks_store *k, const char *name, char path[PATH_MAX], kspec_error *err) {
    int n = snprintf(path, PATH_MAX, "%s/%s", k->dir, name);
    if (n > 0 && n < PATH_MAX) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "the name of the checkpoint %.200s... is too long", k->dir);
}

static kspec_status failed(const char *path, const char *how, kspec_error *err) {
    return ks_fail(err, KSPEC_E_IO, "the checkpoint %.300s %s: %s", path, how, strerror(errno));
}

/* Reads a whole file. On failure *out is NULL and the status is not KSPEC_OK. A missing file is no
 * failure; *bytes is then 0. */
static kspec_status slurp(const char *path, unsigned char **out, size_t *bytes, kspec_error *err) {
    *out = NULL;
    *bytes = 0;
    struct stat s;
    /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT ? KSPEC_OK : failed(path, "cannot be read", err);
    if (fstat(fd, &s) || !S_ISREG(s.st_mode)) {
        close(fd);
        return ks_fail(err, KSPEC_E_IO, "the checkpoint's %.400s is not a file", path);
    }
    FILE *f = fdopen(fd, "rb");
    if (!f) {
        close(fd);
        return ks_nomem(err, "a checkpoint", sizeof *f);
    }
    kspec_status st = KSPEC_OK;
    size_t size = st ? 0 : (size_t)s.st_size;
    if (!st && !(*out = ks_alloc(size, 1))) st = ks_nomem(err, "a checkpoint", size);
    if (!st && fread(*out, 1, size, f) != size) st = failed(path, "cannot be read", err);
    fclose(f);
    if (!st) *bytes = size;
    if (st) {
        ks_free(*out);
        *out = NULL;
    }
    return st;
}

static kspec_status write_file(const char *path, const void *bytes, size_t count, kspec_error *err) {
    ks_temp t;
    kspec_status st = ks_temp_open(&t, path, err);
    if (st) return st;
    st = ks_temp_write(&t, bytes, count, err);
    if (!st) return ks_temp_commit(&t, err);
    ks_temp_discard(&t);
    return st;
}

/* Fails with a message that names the first line in which the two identities differ. */
static kspec_status another(const ks_store *k, const char *found, const char *ours, kspec_error *err) {
    for (;;) {
        size_t a = strcspn(found, "\n"), b = strcspn(ours, "\n");
        if (a != b || strncmp(found, ours, a) != 0)
            return ks_fail(err, KSPEC_E_IO,
                           "the checkpoint %.150s is of another run: it has '%.*s', not '%.*s'", k->dir,
                           (int)(a < 120 ? a : 120), found, (int)(b < 120 ? b : 120), ours);
        if (!found[a] || !ours[b]) /* one of the two texts ends here */
            return ks_fail(err, KSPEC_E_IO, "the checkpoint's file %.400s/identity is damaged", k->dir);
        found += a + 1, ours += b + 1;
    }
}

static kspec_status check_identity(ks_store *k, const char *identity, int rank, kspec_error *err) {
    char path[PATH_MAX];
    unsigned char *found;
    size_t bytes;
    kspec_status st = path_of(k, "identity", path, err);
    if (!st) st = slurp(path, &found, &bytes, err);
    if (st) return st;
    if (!found)
        return rank == 0 ? write_file(path, identity, strlen(identity), err)
                         : ks_fail(err, KSPEC_E_IO, "the checkpoint %.300s is not there", k->dir);
    char text[IDENTITY_MAX];
    size_t n = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
    memcpy(text, found, n);
    text[n] = 0;
    ks_free(found);
    return bytes == strlen(identity) && strcmp(text, identity) == 0 ? KSPEC_OK
                                                                    : another(k, text, identity, err);
}

static int by_loop(const void *a, const void *b) {
    const part *x = a, *y = b;
    return x->loop != y->loop ? (x->loop < y->loop ? -1 : 1) : strcmp(x->name, y->name);
}

static kspec_status list(ks_store *k, kspec_error *err) {
    DIR *d = opendir(k->dir);
    if (!d) return failed(k->dir, "cannot be read", err);
    kspec_status st = KSPEC_OK;
    for (struct dirent *e; !st && (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        if (length >= NAME || length < 5 || strcmp(e->d_name + length - 5, ".part") != 0) continue;
        if (k->count == k->room) {
            size_t room = k->room ? 2 * k->room : 64;
            part *more = ks_alloc(room, sizeof *more);
            if (!more) {
                st = ks_nomem(err, "a checkpoint's list", ks_size(room, sizeof *more));
                break;
            }
            if (k->count) memcpy(more, k->parts, k->count * sizeof *more);
            ks_free(k->parts);
            k->parts = more, k->room = room;
        }
        part *p = &k->parts[k->count++];
        p->loop = strtoull(e->d_name, NULL, 10);
        memcpy(p->name, e->d_name, length + 1);
    }
    closedir(d);
    if (!st && k->count) qsort(k->parts, k->count, sizeof *k->parts, by_loop);
    return st;
}

kspec_status ks_store_open(ks_store **out, const char *dir, const char *identity, int rank,
                           kspec_error *err) {
    *out = NULL;
    if (strlen(identity) >= IDENTITY_MAX)
        return ks_fail(err, KSPEC_E_ARG,
                       "the identity of a checkpoint has %zu bytes, at most %d are possible",
                       strlen(identity), IDENTITY_MAX - 1);
    ks_store *k = ks_zalloc(1, sizeof *k);
    char *name = ks_alloc(strlen(dir) + 1, 1);
    if (!k || !name) {
        ks_free(k);
        ks_free(name);
        return ks_nomem(err, "a checkpoint", sizeof *k + strlen(dir));
    }
    k->dir = strcpy(name, dir);
    k->identity = ks_digest(KS_DIGEST, identity, strlen(identity));
    pthread_mutex_init(&k->lock, NULL);
    kspec_status st = KSPEC_OK;
    if (rank == 0 && mkdir(dir, 0777) && errno != EEXIST) st = failed(dir, "cannot be made", err);
    if (!st) st = check_identity(k, identity, rank, err);
    if (!st) st = list(k, err);
    if (st)
        ks_store_close(k);
    else
        *out = k;
    return st;
}

kspec_status ks_store_more(ks_store *k, const char *dir, const char *identity, kspec_error *err) {
    if (strcmp(k->dir, dir) != 0)
        return ks_fail(err, KSPEC_E_ARG, "the checkpoint is %.200s already, not %.200s", k->dir, dir);
    k->identity = ks_digest(k->identity, identity, strlen(identity));
    return KSPEC_OK;
}

void ks_store_close(ks_store *k) {
    if (!k) return;
    pthread_mutex_destroy(&k->lock);
    ks_free(k->waiting);
    ks_free(k->parts);
    ks_free(k->dir);
    ks_free(k);
}

/* ---- reading ---- */

static size_t words(size_t bytes) { return (bytes + 7) / 8; }

static kspec_status read_part(ks_store *k, const ks_stored_loop *l, const char *name, kspec_error *err) {
    char path[PATH_MAX];
    unsigned char *all = NULL;
    size_t bytes = 0;
    kspec_status st = path_of(k, name, path, err);
    if (!st) st = slurp(path, &all, &bytes, err);
    if (st || !all) return st; /* the part is missing if another run has merged it with other parts */
    const uint64_t *w = (const uint64_t *)(const void *)all;
    int whole = bytes >= (HEAD + 1) * 8 && bytes % 8 == 0 && w[0] == MAGIC && w[1] == VERSION;
    const uint64_t *end = whole ? w + bytes / 8 - 1 : w;
    if (!whole || *end != ks_digest(KS_DIGEST, all, bytes - 8))
        st = ks_fail(err, KSPEC_E_IO, "the checkpoint's part %.400s is damaged", path);
    else if (w[2] != k->identity || w[3] != l->loop || w[4] != l->chunks)
        st = ks_fail(err, KSPEC_E_IO, "the checkpoint's part %.400s is of another run", path);
    const uint64_t *at = w + HEAD;
    for (uint64_t i = 0; !st && i < w[5]; i++) {
        size_t chunk = end - at > 1 ? at[0] : SIZE_MAX;
        size_t size = chunk < l->chunks ? ks_share_bytes(l->shares, l->count, l->chunks, chunk) : 0;
        if (chunk >= l->chunks || at[1] != size || (size_t)(end - at - 2) < words(size)) {
            st = ks_fail(err, KSPEC_E_IO, "the checkpoint's part %.400s is of another run", path);
        } else {
            if (chunk >= l->mine[0] && chunk < l->mine[1])
                ks_share_give(l->shares, l->count, l->chunks, chunk, (const unsigned char *)(at + 2));
            l->have[chunk] = 1;
            at += 2 + words(size);
        }
    }
    ks_free(all);
    return st;
}

/* "000012-path-" */
static void prefix(const ks_stored_loop *l, char name[NAME]) {
    snprintf(name, NAME, "%06llu-%.20s-", (unsigned long long)l->loop, l->what);
}

kspec_status ks_store_begin(ks_store *k, const ks_stored_loop *l, kspec_error *err) {
    char name[NAME];
    prefix(l, name);
    k->began = k->written = ks_now();
    k->waits = 0;
    if (k->waiting_room < l->chunks) {
        ks_free(k->waiting);
        k->waiting_room = 0;
        k->waiting = ks_alloc(l->chunks, sizeof *k->waiting);
        if (!k->waiting) return ks_nomem(err, "a checkpoint", ks_size(l->chunks, sizeof *k->waiting));
        k->waiting_room = l->chunks;
    }
    kspec_status st = KSPEC_OK;
    for (size_t i = 0; i < k->count && !st; i++) {
        if (k->parts[i].loop != l->loop) continue;
        if (strncmp(k->parts[i].name, name, strlen(name)) != 0)
            return ks_fail(err, KSPEC_E_IO, "the checkpoint's part %.200s/%s is of another run", k->dir,
                           k->parts[i].name);
        st = read_part(k, l, k->parts[i].name, err);
    }
    return st;
}

/* ---- writing ---- */

static kspec_status write_part(const ks_store *k, const ks_stored_loop *l, const char *name,
                               const size_t *chunks, size_t count, kspec_error *err) {
    char path[PATH_MAX];
    kspec_status st = path_of(k, name, path, err);
    size_t total = HEAD + 1;
    for (size_t i = 0; i < count; i++)
        total += 2 + words(ks_share_bytes(l->shares, l->count, l->chunks, chunks[i]));
    uint64_t *all = st ? NULL : ks_zalloc(total, sizeof *all), *w = all;
    if (!all) return st ? st : ks_nomem(err, "a checkpoint's part", ks_size(total, sizeof *all));
    *w++ = MAGIC, *w++ = VERSION, *w++ = k->identity, *w++ = l->loop, *w++ = l->chunks, *w++ = count;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = ks_share_bytes(l->shares, l->count, l->chunks, chunks[i]);
        *w++ = chunks[i], *w++ = bytes;
        ks_share_take(l->shares, l->count, l->chunks, chunks[i], (unsigned char *)w);
        w += words(bytes);
    }
    *w = ks_digest(KS_DIGEST, all, (total - 1) * sizeof *all);
    st = write_file(path, all, total * sizeof *all, err);
    ks_free(all);
    return st;
}

/* Writes the waiting chunks as a part. The caller holds the lock. */
static kspec_status write_waiting(ks_store *k, const ks_stored_loop *l, kspec_error *err) {
    if (!k->waits) return KSPEC_OK;
    char name[NAME];
    prefix(l, name);
    size_t n = strlen(name);
    snprintf(name + n, NAME - n, "%zu.part", k->waiting[0]);
    kspec_status st = write_part(k, l, name, k->waiting, k->waits, err);
    k->waits = 0;
    k->written = ks_now();
    return st;
}

kspec_status ks_store_add(ks_store *k, const ks_stored_loop *l, size_t chunk, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    pthread_mutex_lock(&k->lock);
    k->waiting[k->waits++] = chunk;
    /* At first the checkpoint writes a part every second. Later the interval is a fiftieth of the elapsed
     * time, which limits the number of parts. */
    double now = ks_now(), wait = ks_store_interval + (now - k->began) / 50 * (ks_store_interval > 0);
    if (now - k->written >= wait) st = write_waiting(k, l, err);
    pthread_mutex_unlock(&k->lock);
    return st;
}

kspec_status ks_store_flush(ks_store *k, const ks_stored_loop *l, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    pthread_mutex_lock(&k->lock);
    /* Computing a short chunk again is faster than storing the chunk. */
    if (ks_now() - k->began >= ks_store_interval / 10) st = write_waiting(k, l, err);
    pthread_mutex_unlock(&k->lock);
    return st;
}

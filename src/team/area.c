/* Maps memory that all ranks on a machine share. */
#include "team/area.h"

#include "base/memfile.h"
#include "base/memory.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

size_t ks_area_most = SIZE_MAX;

enum { PAGE = 4096 };

/* The header in front of the parts. Consecutive rounds alternate between the two counters. */
typedef struct {
    _Atomic size_t next[2];
    char rest[PAGE - 2 * sizeof(size_t)];
} head;

/* Creates a file in memory and returns its descriptor, or -1 on failure. Each page belongs to the rank
 * that writes it first. Only the machine's memory limits the size of such a file. */
static int make(size_t bytes) {
    struct rlimit file;
    if (bytes > ks_memory_available() / 4) return -1;
    if (getrlimit(RLIMIT_FSIZE, &file)) return -1;
    if (file.rlim_cur != RLIM_INFINITY && file.rlim_cur < bytes) return -1;
    const int fd = ks_memory_file();
    if (fd < 0 || ftruncate(fd, (off_t)bytes) == 0) return fd;
    close(fd);
    return -1;
}

static size_t bytes_of(size_t part) { return ks_size_add(sizeof(head), ks_size(KS_AREA_PARTS, part)); }

/* Maps the area on all ranks, or on none if any rank fails. */
static kspec_status grow(kspec_team *t, size_t part, kspec_error *err) {
    const size_t bytes = bytes_of(part);
    struct {
        long process;
        int fd, lasts;
    } of = {(long)getpid(), -1, bytes < ks_memory_available() / 64};
    void *x = MAP_FAILED;
    int fd = -1;
    ks_area_end(t);
    if (t->comm.rank == 0) of.fd = fd = make(bytes);
    kspec_status st = ks_team_broadcast(t, 0, &of, sizeof of, err);
    if (!st && of.fd >= 0 && t->comm.rank > 0) fd = ks_memory_file_of(of.process, of.fd);
    if (!st && fd >= 0) x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const unsigned char mine = x != MAP_FAILED;
    for (int r = 0; r < t->comm.ranks; r++) t->bytes[r] = 1;
    if (!st) st = ks_team_gather(t, &mine, t->flags, t->bytes, err);
    if (fd >= 0) close(fd); /* all ranks have opened the file by now, so this rank can close it */
    int everybody = !st;
    for (int r = 0; r < t->comm.ranks; r++) everybody = everybody && t->flags[r];
    if (everybody)
        t->area = x, t->area_part = part, t->area_lasts = of.lasts;
    else if (mine)
        munmap(x, bytes);
    t->no_area = !everybody;
    return st;
}

/* Returns 1 if every rank has read the part. A part is free after two synchronisations: one after
 * writing, one after reading. */
static int is_free(const kspec_team *t, int part) { return t->meetings >= t->area_used[part] + 2; }

static int free_parts(const kspec_team *t) {
    int count = 0;
    for (int k = 0; k < KS_AREA_PARTS; k++) count += is_free(t, k);
    return count;
}

kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double **area, kspec_error *err) {
    const int together = t->comm.ranks > 1 && t->comm.local_ranks == t->comm.ranks;
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < count; k++) area[k] = NULL;
    if (!together || t->no_area || bytes > ks_area_most) return KSPEC_OK;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    const int more = bytes > t->area_part;
    if (more || free_parts(t) < count) st = ks_team_synchronise(t, KS_AT_LOOP, KSPEC_OK, "area", bytes, err);
    if (!st && more) st = grow(t, bytes, err);
    for (int k = 0, found = 0; k < KS_AREA_PARTS && found < count && !st && t->area; k++) {
        if (!more && !is_free(t, k)) continue;
        area[found++] = (double *)(void *)((char *)t->area + sizeof(head) + (size_t)k * t->area_part);
        t->area_used[k] = t->meetings;
    }
    return st;
}

static _Atomic size_t *counter(const kspec_team *t) { return &((head *)t->area)->next[t->area_rounds % 2]; }

size_t ks_area_next(kspec_team *t) { return atomic_fetch_add(counter(t), 1); }

size_t ks_area_taken(const kspec_team *t) { return atomic_load(counter(t)); }

/* Call this when all ranks have left the round. The next round uses the other counter, and the present
 * counter is reused in the round after that. */
void ks_area_round(kspec_team *t) {
    if (t->comm.rank == 0) atomic_store(counter(t), 0);
    t->area_rounds++;
}

void ks_area_end(kspec_team *t) {
    if (t->area) munmap(t->area, bytes_of(t->area_part));
    t->area = NULL, t->area_part = 0;
}

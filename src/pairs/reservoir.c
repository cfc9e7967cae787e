/* Keeps the rows with the smallest random keys, as a uniform sample of a stream. */
#include "pairs/reservoir.h"

#include "base/error.h"
#include "base/streams.h"

#include <string.h>

kspec_status ks_reservoir_open(ks_reservoir *r, uint64_t seed, size_t capacity, size_t width, ks_arena *arena,
                               kspec_error *err) {
    *r = (ks_reservoir){.seed = seed, .capacity = capacity, .width = width};
    r->kept = ks_arena_alloc(arena, capacity, sizeof *r->kept);
    r->rows = ks_arena_alloc(arena, ks_size(capacity, width), sizeof *r->rows);
    return arena->failed ? ks_nomem(err, "the sample of rows", arena->failed) : KSPEC_OK;
}

static int before(const ks_kept *a, const ks_kept *b) {
    if (a->key != b->key) return a->key < b->key;
    if (a->stream != b->stream) return a->stream < b->stream;
    return a->row < b->row;
}

static void swap(ks_kept *a, ks_kept *b) {
    const ks_kept c = *a;
    *a = *b, *b = c;
}

static void sink(ks_reservoir *r, size_t at) {
    for (size_t child; (child = 2 * at + 1) < r->count; at = child) {
        if (child + 1 < r->count && before(&r->kept[child], &r->kept[child + 1])) child++;
        if (!before(&r->kept[at], &r->kept[child])) return;
        swap(&r->kept[at], &r->kept[child]);
    }
}

static void rise(ks_reservoir *r, size_t at) {
    for (; at > 0 && before(&r->kept[(at - 1) / 2], &r->kept[at]); at = (at - 1) / 2)
        swap(&r->kept[at], &r->kept[(at - 1) / 2]);
}

static double *place(ks_reservoir *r, ks_kept k) {
    if (r->count < r->capacity) {
        k.place = r->count;
        r->kept[r->count++] = k;
        rise(r, r->count - 1);
    } else if (r->capacity && before(&k, &r->kept[0])) {
        k.place = r->kept[0].place;
        r->kept[0] = k;
        sink(r, 0);
    } else {
        return NULL;
    }
    return r->rows + k.place * r->width;
}

double *ks_reservoir_place(ks_reservoir *r, uint64_t stream, uint64_t row) {
    ks_kept k = {.stream = stream, .row = row};
    kspec_random_uniform(r->seed, ks_stream(KS_STREAM_RESERVOIR, stream), row, 1, &k.key);
    return place(r, k);
}

void ks_reservoir_offer(ks_reservoir *r, uint64_t stream, uint64_t row, const double *x) {
    double *to = ks_reservoir_place(r, stream, row);
    if (to) memcpy(to, x, r->width * sizeof *x);
}

void ks_reservoir_merge(ks_reservoir *r, const ks_reservoir *other) {
    for (size_t k = 0; k < other->count; k++) {
        double *to = place(r, other->kept[k]);
        if (to) memcpy(to, other->rows + other->kept[k].place * other->width, r->width * sizeof *to);
    }
}

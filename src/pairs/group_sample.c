/* Keeps the groups of rows with the smallest random keys, as a uniform sample of the groups of a stream. */
#include "base/error.h"
#include "base/streams.h"
#include "pairs/grouped.h"

#include <stdint.h>
#include <string.h>

kspec_status ks_group_sample_open(ks_group_sample *s, uint64_t seed, size_t capacity, size_t width,
                                  ks_arena *arena, kspec_error *err) {
    *s = (ks_group_sample){.seed = seed, .capacity = capacity, .width = width};
    s->kept = ks_arena_alloc(arena, capacity, sizeof *s->kept);
    s->next = ks_arena_alloc(arena, capacity, sizeof *s->next);
    s->data = ks_arena_alloc(arena, ks_size(capacity, width), sizeof *s->data);
    if (arena->failed) return ks_nomem(err, "the sample of groups", arena->failed);
    for (size_t i = 0; i < capacity; i++) s->next[i] = i + 1;
    return KSPEC_OK;
}

static int before(const ks_kept_group *a, const ks_kept_group *b) {
    if (a->key != b->key) return a->key < b->key;
    if (a->stream != b->stream) return a->stream < b->stream;
    return a->group < b->group;
}

static void drop_last(ks_group_sample *s) {
    const ks_kept_group *k = &s->kept[--s->count];
    size_t last = k->first;
    for (size_t i = 1; i < k->rows; i++) last = s->next[last];
    s->next[last] = s->unused, s->unused = k->first;
    s->rows -= k->rows;
    s->limit = *k, s->limited = 1;
}

size_t ks_group_sample_enter(ks_group_sample *s, ks_kept_group k) {
    if (s->limited && !before(&k, &s->limit)) return SIZE_MAX;
    while (s->rows + k.rows > s->capacity) {
        if (!s->count || before(&s->kept[s->count - 1], &k)) {
            s->limit = k, s->limited = 1;
            return SIZE_MAX;
        }
        drop_last(s);
    }
    size_t at = s->count++, last = k.first = s->unused;
    for (; at > 0 && before(&k, &s->kept[at - 1]); at--) s->kept[at] = s->kept[at - 1];
    s->kept[at] = k;
    for (size_t i = 1; i < k.rows; i++) last = s->next[last];
    s->unused = s->next[last];
    s->rows += k.rows;
    return k.first;
}

void ks_group_sample_offer(ks_group_sample *s, uint64_t stream, uint64_t group, const double *x, size_t n) {
    ks_kept_group k = {.stream = stream, .group = group, .rows = n};
    kspec_random_uniform(s->seed, ks_stream(KS_STREAM_RESERVOIR, stream), group, 1, &k.key);
    size_t place = ks_group_sample_enter(s, k);
    for (size_t i = 0; i < n && place != SIZE_MAX; i++, place = s->next[place])
        memcpy(s->data + place * s->width, x + i * s->width, s->width * sizeof *x);
}

void ks_group_sample_rows(const ks_group_sample *s, const ks_kept_group *k, double *to) {
    size_t place = k->first;
    for (size_t i = 0; i < k->rows; i++, place = s->next[place])
        memcpy(to + i * s->width, s->data + place * s->width, s->width * sizeof *to);
}

void ks_group_sample_merge(ks_group_sample *s, const ks_group_sample *other) {
    for (size_t k = 0; k < other->count; k++) {
        const ks_kept_group *from = &other->kept[k];
        size_t place = ks_group_sample_enter(s, *from), source = from->first;
        for (size_t i = 0; i < from->rows && place != SIZE_MAX;
             i++, place = s->next[place], source = other->next[source])
            memcpy(s->data + place * s->width, other->data + source * s->width, s->width * sizeof(double));
    }
    if (!other->limited || (s->limited && before(&s->limit, &other->limit))) return;
    while (s->count && !before(&s->kept[s->count - 1], &other->limit)) drop_last(s);
    s->limit = other->limit, s->limited = 1;
}

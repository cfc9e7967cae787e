/*
 * Converts an accumulator to bytes and back. The bytes are words of 8 bytes in the machine's order. These
 * words contain a magic number, version and length, the settings, the streams, the sums, the sample of rows
 * or groups, the waiting rows, and a checksum of all preceding words.
 */
#include "base/digest.h"
#include "base/error.h"
#include "dimension/accumulator.h"

#include <limits.h>
#include <string.h>

enum { VERSION = 2, HEAD = 3, SETTINGS = 18, SUMS = 3 };
static const uint64_t MAGIC = UINT64_C(0x6d7563636170736b); /* "kspaccum" in little-endian */

/* Moves bytes to or from the packed form, and stops at the end of the packed form. */
typedef struct {
    unsigned char *at; /* NULL: only counts */
    size_t left, moved;
    int reading, bad;
} mover;

static void pass(mover *m, void *x, size_t count, size_t size) {
    const size_t bytes = ks_size(count, size);
    m->moved = ks_size_add(m->moved, bytes);
    if (!m->at || m->bad) return;
    if (bytes > m->left) {
        m->bad = 1;
        return;
    }
    if (m->reading)
        memcpy(x, m->at, bytes);
    else
        memcpy(m->at, x, bytes);
    m->at += bytes, m->left -= bytes;
}

static void put_settings(const kspec_accumulator *a, uint64_t s[SETTINGS]) {
    const kspec_accumulator_opts *o = &a->o;
    const uint64_t all[SETTINGS] = {a->sums.cols[0],
                                    o->other_features,
                                    (uint64_t)o->center,
                                    (uint64_t)o->sampled,
                                    o->reservoir,
                                    o->seed,
                                    o->stream,
                                    o->omit_nan != 0,
                                    (uint64_t)o->threads,
                                    a->taken,
                                    a->omitted,
                                    a->stream_count,
                                    a->sample.count,
                                    a->held,
                                    a->block,
                                    a->o.grouped != 0,
                                    a->groups.E[1] != NULL,
                                    a->group_sample.count};
    memcpy(s, all, sizeof all);
}

/* Moves the sample of groups. Reading enters each group anew. */
static void pass_group_sample(mover *m, ks_group_sample *s) {
    uint64_t limited = (uint64_t)s->limited;
    const size_t count = s->count;
    pass(m, &limited, 1, sizeof limited);
    ks_kept_group limit = s->limit;
    limit.first = 0;
    pass(m, &limit, 1, sizeof limit);
    if (m->reading) s->limit = limit;
    if (m->reading) s->limited = 0, s->count = 0;
    for (size_t k = 0; k < count && !m->bad; k++) {
        ks_kept_group kept = {0};
        if (!m->reading) kept = s->kept[k];
        ks_kept_group told = kept;
        told.first = 0;
        pass(m, &told, 1, sizeof told);
        if (m->reading) kept = told;
        if (m->bad || kept.rows == 0 || kept.rows > s->capacity - s->rows * (size_t)m->reading) {
            m->bad |= m->reading;
            break;
        }
        if (m->reading) kept.first = ks_group_sample_enter(s, kept);
        for (size_t i = 0, place = kept.first; i < kept.rows; i++, place = s->next[place])
            pass(m, s->data + place * s->width, s->width, sizeof(double));
    }
    if (m->reading) s->limited = limited != 0;
}

static void pass_groups(mover *m, kspec_accumulator *a) {
    ks_grouped *g = &a->groups;
    const size_t products = g->all * g->all;
    uint64_t sums[SUMS + 1] = {g->groups, g->rows, (uint64_t)(int64_t)g->exponent, (uint64_t)g->known};
    pass(m, sums, SUMS + 1, sizeof *sums);
    if (m->reading) {
        g->groups = (size_t)sums[0], g->rows = (size_t)sums[1];
        g->exponent = (int)(int64_t)sums[2], g->known = sums[3] != 0;
    }
    pass(m, &g->size, 1, sizeof(double));
    pass(m, g->S, 4, sizeof(double));
    pass(m, &g->moved, 1, sizeof(double));
    pass(m, g->number, KS_G_NUMBERS, sizeof(double));
    pass(m, g->vector[0], ks_size(KS_G_VECTORS, g->all), sizeof(double));
    for (int k = 0; k < 3; k++)
        if (g->W[k]) pass(m, g->W[k], products, sizeof(double));
    for (int k = 0; k < 2; k++)
        if (g->E[k]) pass(m, g->E[k], products, sizeof(double));
    pass_group_sample(m, &a->group_sample);
}

/* Moves everything except the head, the settings and the checksum. */
static void pass_all(mover *m, kspec_accumulator *a) {
    ks_stream *s = &a->sums;
    if (a->o.grouped) {
        pass(m, a->streams, a->stream_count, sizeof *a->streams);
        pass_groups(m, a);
        return;
    }
    uint64_t sums[SUMS] = {s->n, (uint64_t)(int64_t)s->exponent, (uint64_t)s->known};
    pass(m, a->streams, a->stream_count, sizeof *a->streams);
    pass(m, sums, SUMS, sizeof *sums);
    if (m->reading) s->n = (size_t)sums[0], s->exponent = (int)(int64_t)sums[1], s->known = sums[2] != 0;
    pass(m, s->N2, 2, sizeof(double));
    pass(m, s->N4, 3, sizeof(double));
    pass(m, s->mean, ks_stream_numbers(s->cols), sizeof(double));
    for (size_t k = 0; k < a->sample.count; k++) {
        ks_kept *kept = &a->sample.kept[k];
        pass(m, &kept->key, 1, sizeof kept->key);
        pass(m, &kept->stream, 1, sizeof kept->stream);
        pass(m, &kept->row, 1, sizeof kept->row);
        pass(m, &kept->place, 1, sizeof kept->place);
        m->bad |= m->reading && kept->place >= a->sample.count;
    }
    pass(m, a->sample.rows, ks_size(a->sample.count, s->all), sizeof(double));
    pass(m, a->waiting, ks_size(a->held, s->all), sizeof(double));
}

static size_t size_of(const kspec_accumulator *a) {
    mover m = {0};
    pass_all(&m, (kspec_accumulator *)a);
    return m.moved + (HEAD + SETTINGS + 1) * sizeof(uint64_t);
}

kspec_status kspec_accumulator_pack(const kspec_accumulator *a, void *to, size_t *size, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, size, "the number of bytes");
    if (!st && to) st = ks_accumulator_fetch(a, err);
    if (st) return st;
    const size_t wanted = size_of(a), given = *size;
    *size = wanted;
    if (!to) return KSPEC_OK;
    if (given != wanted)
        return ks_fail(err, KSPEC_E_ARG, "%zu bytes were given for a state of %zu", given, wanted);
    const uint64_t head[HEAD] = {MAGIC, VERSION, wanted};
    uint64_t settings[SETTINGS], sum;
    put_settings(a, settings);
    memcpy(to, head, sizeof head);
    memcpy((unsigned char *)to + sizeof head, settings, sizeof settings);
    const size_t first = sizeof head + sizeof settings;
    mover m = {.at = (unsigned char *)to + first, .left = wanted - first};
    pass_all(&m, (kspec_accumulator *)a);
    sum = ks_digest(KS_DIGEST, to, wanted - sizeof sum);
    memcpy((unsigned char *)to + wanted - sizeof sum, &sum, sizeof sum);
    return KSPEC_OK;
}

/*
 * Builds an accumulator from bytes whose checksum is right. So any error now comes from the program that
 * wrote the bytes, not from damage.
 */
static kspec_status build(const unsigned char *from, size_t size, const uint64_t s[SETTINGS],
                          kspec_accumulator **out, kspec_error *err) {
    const kspec_accumulator_opts o = {.size = sizeof o,
                                      .other_features = s[1],
                                      .center = (kspec_center)s[2],
                                      .sampled = (kspec_sampled)s[3],
                                      .reservoir = s[4],
                                      .seed = s[5],
                                      .stream = s[6],
                                      .omit_nan = (int)s[7],
                                      .threads = (int)s[8],
                                      .grouped = s[15] != 0};
    const int sound = s[0] && (s[2] == KSPEC_CENTER_NONE || s[2] == KSPEC_CENTER_ROWS) &&
                      s[3] <= KSPEC_SAMPLED_COLS && s[8] <= INT_MAX && s[11] && s[12] <= s[4] &&
                      (s[15] ? !s[13] && !s[14] && s[17] <= s[4] : s[13] < s[14]) &&
                      s[11] < size / sizeof(uint64_t) && s[14] < SIZE_MAX;
    if (!sound) return ks_fail(err, KSPEC_E_DATA, "the bytes describe an impossible accumulator");
    kspec_accumulator *a = NULL;
    kspec_status st = ks_accumulator_new(s[0], &o, s[14], s[11], &a, err);
    if (!st && o.grouped && s[16]) st = ks_grouped_expand(&a->groups, 0, err);
    if (st) {
        kspec_accumulator_close(a);
        return st;
    }
    a->group_sample.count = s[17];
    a->taken = s[9], a->omitted = s[10], a->stream_count = s[11], a->sample.count = s[12], a->held = s[13];
    mover m = {.at = (unsigned char *)(uintptr_t)from, .left = size, .reading = 1};
    pass_all(&m, a);
    if (m.bad || m.left) {
        kspec_accumulator_close(a);
        return ks_fail(err, KSPEC_E_DATA, "the bytes describe an impossible accumulator");
    }
    *out = a;
    return KSPEC_OK;
}

kspec_status kspec_accumulator_unpack(const void *from, size_t size, kspec_accumulator **out,
                                      kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_check_pointer(err, from, "the bytes");
    uint64_t head[HEAD], settings[SETTINGS], sum;
    const size_t first = sizeof head + sizeof settings;
    if (st) return st;
    if (size < first + sizeof sum)
        return ks_fail(err, KSPEC_E_DATA, "%zu bytes are too few for an accumulator", size);
    memcpy(head, from, sizeof head);
    memcpy(settings, (const unsigned char *)from + sizeof head, sizeof settings);
    memcpy(&sum, (const unsigned char *)from + size - sizeof sum, sizeof sum);
    if (head[0] != MAGIC)
        return ks_fail(err, KSPEC_E_DATA,
                       "the bytes are not an accumulator of kspec on this kind of processor");
    if (head[1] != VERSION)
        return ks_fail(err, KSPEC_E_DATA,
                       "the accumulator has version %llu of its format, but this kspec reads version %d",
                       (unsigned long long)head[1], VERSION);
    if (head[2] != size)
        return ks_fail(err, KSPEC_E_DATA, "the accumulator has %llu bytes, but %zu were given",
                       (unsigned long long)head[2], size);
    if (sum != ks_digest(KS_DIGEST, from, size - sizeof sum))
        return ks_fail(err, KSPEC_E_DATA, "the accumulator's checksum is wrong: its bytes were changed");
    return build((const unsigned char *)from + first, size - first - sizeof sum, settings, out, err);
}

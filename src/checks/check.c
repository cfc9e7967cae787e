/* Runs all checks in order, and finds columns that two matrices share. */
#include "checks/check.h"

#include "base/error.h"
#include "base/matrix.h"
#include "checks/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ks_check(ks_doubts to, const char *where, const ks_checked *c) {
    ks_arena arena = {0};
    ks_scan s;
    if (!c->phi || !c->ntrials || !c->phi->rows || !c->phi->cols) return;
    ks_scan_make(c, &s, &arena);
    if (!arena.failed) {
        size_t repeated = 0;
        ks_check_kind(to, where, c);
        ks_check_wild(to, where, c, &s);
        if (c->sampled != KSPEC_SAMPLED_COLS) {
            repeated = ks_check_repeated(to, where, c, &s, 0, &arena);
            ks_check_dependent(to, where, c, &s, repeated > 0, &arena);
        }
        if (c->sampled != KSPEC_SAMPLED_ROWS) {
            ks_check_repeated(to, where, c, &s, 1, &arena);
            ks_check_tail(to, where, c, &s, &arena);
        }
    }
    if (arena.failed) to.arena->failed = arena.failed;
    ks_arena_free(&arena);
}

/* ---- the reason of a failure ---- */

/* The usual advice after a range failure; it does not help if a single entry is the cause */
static const char scale_the_data[] = "; scale the data";

kspec_status ks_check_blame(kspec_status st, const ks_checked *c, kspec_error *err) {
    ks_arena arena = {0};
    size_t count = 0;
    kspec_doubt **list = NULL;
    ks_scan s;
    if (st != KSPEC_E_NUMERIC || !err) return st;
    ks_scan_make(c, &s, &arena);
    if (!arena.failed) ks_check_wild((ks_doubts){&arena, &count, &list}, NULL, c, &s);
    if (!arena.failed && count) {
        char text[512];
        kspec_doubt_text(list[0], text, sizeof text);
        size_t length = strlen(err->msg), end = sizeof scale_the_data - 1;
        if (length > end && strcmp(err->msg + length - end, scale_the_data) == 0) length -= end;
        ks_print(err->msg + length, sizeof err->msg - length, "; %s", text);
        ks_about(err, list[0]->option ? list[0]->option : "", list[0]->setting, st);
    }
    ks_arena_free(&arena);
    return st;
}

/* ---- two matrices ---- */

typedef struct {
    uint64_t hash;
    size_t at;
} hashed;

static int by_hash(const void *a, const void *b) {
    const hashed *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Hash of a column's values as float32, at some rows; 0 for a constant column */
static uint64_t hash_of(const kspec_matrix *m, size_t j) {
    enum { ASKED = 64 };
    const size_t n = m->rows < ASKED ? m->rows : ASKED;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int varies = 0;
    for (size_t k = 0; k < n; k++) {
        const float x = (float)ks_at(m, k * m->rows / n, j);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        varies |= x != (float)ks_at(m, 0, j);
    }
    return varies ? hash | 1 : 0;
}

static int same_column(const kspec_matrix *a, size_t j, const kspec_matrix *b, size_t k) {
    for (size_t i = 0; i < a->rows; i++)
        if ((float)ks_at(a, i, j) != (float)ks_at(b, i, k)) return 0;
    return 1;
}

void ks_check_two(ks_doubts to, const char *where, const kspec_matrix *a, const kspec_matrix *b) {
    enum { LEAST = 5 };
    ks_arena arena = {0};
    if (a->rows != b->rows || a->rows < LEAST) return;
    hashed *list = ks_arena_alloc(&arena, b->cols, sizeof *list);
    size_t shared = 0, first[2] = {0, 0};
    if (list) {
        for (size_t k = 0; k < b->cols; k++) list[k] = (hashed){hash_of(b, k), k};
        qsort(list, b->cols, sizeof *list, by_hash);
    }
    for (size_t j = 0; j < a->cols && list; j++) {
        const hashed key = {hash_of(a, j), 0}, *hit;
        if (!key.hash || !(hit = bsearch(&key, list, b->cols, sizeof *list, by_hash))) continue;
        if (!same_column(a, j, b, hit->at)) continue;
        if (!shared++) first[0] = j, first[1] = hit->at;
    }
    if (shared)
        ks_doubt(to, KSPEC_DOUBT_SHARED_COLS, where, NULL, (double)shared, (double)a->cols, (double)first[0],
                 (double)first[1]);
    if (arena.failed) to.arena->failed = arena.failed;
    ks_arena_free(&arena);
}

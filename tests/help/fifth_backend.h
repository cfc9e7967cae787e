/*
 * A backend beside those of the library, in plain loops: it stands in this file and, while a test has it, in
 * the list of backends. A ks_mat of it is no address: whoever looks behind one ends with a fault.
 */
#ifndef FIFTH_BACKEND_H
#define FIFTH_BACKEND_H

#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"

#include <stdint.h>
#include <string.h>

static size_t fifth_operations; /* so far */

static double *fifth_open(const ks_mat *p) {
    return p ? (double *)((uintptr_t)p ^ (uintptr_t)1 << 62) : NULL;
}
static ks_mat *fifth_close(const double *x) {
    return x ? (ks_mat *)((uintptr_t)x ^ (uintptr_t)1 << 62) : NULL;
}

static int fifth_suits(const ks_run *run, ks_holding how, double work) {
    (void)work;
    return !run->device && how != KS_HOLD_ADDRESSES;
}

static size_t fifth_room(const ks_run *run, const ks_room *of) {
    (void)run;
    return of->product || of->expression || of->symmetrise ? 0 : of->rows * of->cols;
}

static kspec_status fifth_hold(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                               kspec_error *err) {
    (void)run;
    double *x = ks_alloc(rows * cols, sizeof *x);
    *out = fifth_close(x);
    return x ? KSPEC_OK : ks_nomem(err, what, rows * cols * sizeof *x);
}

static void fifth_drop(const ks_run *run, ks_mat *p) {
    (void)run;
    ks_free(fifth_open(p));
}

static kspec_status fifth_bring(const ks_run *run, const double *host, size_t rows, size_t cols,
                                const char *what, const ks_mat **out, kspec_error *err) {
    ks_mat *p;
    kspec_status st = fifth_hold(run, rows, cols, what, &p, err);
    if (!st) memcpy(fifth_open(p), host, rows * cols * sizeof *host);
    *out = p;
    return st;
}

static void fifth_leave(const ks_run *run, const ks_mat *p) { fifth_drop(run, (ks_mat *)p); }

static ks_mat *fifth_view(const ks_mat *p, size_t entry) { return fifth_close(fifth_open(p) + entry); }

static kspec_status fifth_put(const ks_run *run, ks_mat *to, const double *from, size_t count,
                              kspec_error *err) {
    (void)run, (void)err;
    memcpy(fifth_open(to), from, count * sizeof *from);
    return KSPEC_OK;
}

static kspec_status fifth_get(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                              kspec_error *err) {
    (void)run, (void)err;
    for (size_t i = 0; i < count; i++) to[i] = fifth_open(from)[i * step];
    return KSPEC_OK;
}

static kspec_status fifth_diagonal(const ks_run *run, double *to, const ks_mat *from, size_t n,
                                   kspec_error *err) {
    return fifth_get(run, to, from, n, n + 1, err);
}

static kspec_status fifth_product(const ks_run *run, const ks_mat_product *p, kspec_error *err) {
    const double *A = fifth_open(p->A), *B = fifth_open(p->B);
    double *C = fifth_open(p->C);
    (void)run, (void)err;
    fifth_operations++;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double sum = 0, *c = C + i * p->ldc + j;
            for (size_t k = 0; k < p->k; k++)
                sum +=
                    A[p->ta ? k * p->lda + i : i * p->lda + k] * B[p->tb ? j * p->ldb + k : k * p->ldb + j];
            *c = p->alpha * sum + (p->beta != 0 ? p->beta * *c : 0);
        }
    return KSPEC_OK;
}

static double fifth_entry(const ks_mat_expression *e, size_t i, size_t j) {
    const double *row = e->row_held ? fifth_open(e->row_held) : e->row;
    const double *col = e->col_held ? fifth_open(e->col_held) : e->col;
    double x = e->alpha * (row ? row[i] : 1) * (col ? col[j] : 1);
    for (int k = 0; k < e->count; k++) {
        const ks_mat_factor *f = &e->factor[k];
        for (int power = 0; power < f->power; power++)
            x *= fifth_open(f->x)[f->transposed ? j * e->m + i : i * e->n + j];
    }
    return x;
}

static kspec_status fifth_expression(const ks_run *run, const ks_mat_expression *e, ks_tile_result what,
                                     ks_mat *out, double *sums, kspec_error *err) {
    double *to = out ? fifth_open(out) : sums;
    (void)run, (void)err;
    fifth_operations++;
    if (what == KS_TILE_ROW_SUMS) memset(to, 0, e->m * sizeof *to);
    if (what == KS_TILE_COL_SUMS) memset(to, 0, e->n * sizeof *to);
    for (size_t i = 0; i < e->m; i++)
        for (size_t j = 0; j < e->n; j++) {
            const double x = fifth_entry(e, i, j);
            switch (what) {
            case KS_TILE_STORE: to[i * e->n + j] = x; break;
            case KS_TILE_ADD: to[i * e->n + j] += x; break;
            case KS_TILE_ROW_SUMS: to[i] += x; break;
            case KS_TILE_COL_SUMS: to[j] += x; break;
            }
        }
    return KSPEC_OK;
}

static kspec_status fifth_symmetrise(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    double *x = fifth_open(X);
    (void)run, (void)err;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) x[i * n + j] = x[j * n + i] = x[i * n + j] + x[j * n + i];
    return KSPEC_OK;
}

static kspec_status fifth_triangle(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    (void)run, (void)err;
    for (size_t i = 0; i < n * n; i++) fifth_open(X)[i] = i / n < i % n;
    return KSPEC_OK;
}

static const ks_backend fifth_backend = {.suits = fifth_suits,
                                         .room = fifth_room,
                                         .hold = fifth_hold,
                                         .drop = fifth_drop,
                                         .copy_in = fifth_bring,
                                         .release = fifth_leave,
                                         .diagonal = fifth_diagonal,
                                         .view = fifth_view,
                                         .put = fifth_put,
                                         .get = fifth_get,
                                         .product = fifth_product,
                                         .expression = fifth_expression,
                                         .symmetrise = fifth_symmetrise,
                                         .triangle = fifth_triangle};

/* The line of the list; and out again */
static void fifth_backend_begin(void) {
    for (int k = 4; k--;) ks_backends[k + 1] = ks_backends[k];
    ks_backends[0] = &fifth_backend;
}
static void fifth_backend_end(void) {
    for (int k = 0; k < 5; k++) ks_backends[k] = ks_backends[k + 1];
}

#endif

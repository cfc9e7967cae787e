/*
 * What the parts of `kspec bench` share. A part is a function in a file bench_NAME.c of its own and a line in the table
 * of bench.c; it checks its answers against a plain version first, then adds lines to the table.
 */
#ifndef KSPEC_BENCH_H
#define KSPEC_BENCH_H

#include "bench/lib/rates.h"
#include "core/cli.h"

typedef struct {
    cli_common common;
    size_t rows, cols;
    int repeat;
} bench_args;

/*
 * A line of the table and of the JSON's results: `rate` and `gemm` in multiply-adds per second (a part takes DGEMM's
 * rate just before and just after its own, so that a noisy machine is noisy for both); dgemms, the time in products of
 * matrices of that size, or NaN.
 */
void bench_line(const bench_args *a, json_t *list, const char *name, double seconds, double rate, double gemm,
                double dgemms);

/* The parts: each returns an exit status after a message. */
int bench_moments(const bench_args *a, json_t *list);
int bench_exact(const bench_args *a, json_t *list);
int bench_ridge(const bench_args *a, json_t *list);
int bench_norm(const bench_args *a, json_t *list);
int bench_features(const bench_args *a, json_t *list);

#endif

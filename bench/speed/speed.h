/*
 * What the parts of kspec-bench share. A part is a function in a file of its name and a line in the table of
 * main.c; it checks its answers against a plain version first, then adds lines to the table.
 */
#ifndef KSPEC_BENCH_SPEED_H
#define KSPEC_BENCH_SPEED_H

#include "bench/lib/rates.h"
#include "core/cli.h"

typedef struct {
    cli_common common;
    size_t rows, cols;
    int repeat, device;
} bench_args;

/* A line of the table and of the JSON's results */
typedef struct {
    char name[64];
    /* Rates in multiply-adds per second; dgemms: the time in products of matrices of that size, or NaN */
    double seconds, rate, gemm, dgemms;
    /* What it is made of, in words for the table and as numbers for the JSON; NaN: none */
    char note[160];
    double product, function, pass, of_product_and_pass, cpu_seconds, copying;
} bench_entry;

typedef struct {
    bench_entry *at;
    size_t count;
} bench_list;

/*
 * Adds a line; NULL after a message without memory. A part takes DGEMM's rate just before and just after its
 * own, so that a noisy machine is noisy for both.
 */
bench_entry *bench_add(bench_list *list, const char *name, double seconds, double rate, double gemm,
                       double dgemms);

/* The parts: each returns an exit status after a message. */
int bench_moments(const bench_args *a, bench_list *list);
int bench_exact(const bench_args *a, bench_list *list);
int bench_ridge(const bench_args *a, bench_list *list);
int bench_norm(const bench_args *a, bench_list *list);
int bench_features(const bench_args *a, bench_list *list);
int bench_dimension(const bench_args *a, bench_list *list);

/* On a GPU: path and the Gram matrices' (exact: 0), or exact; `name` gets the device's */
int bench_device(const bench_args *a, int exact, char name[144], bench_list *list);
/* ... and ridge, with n = P rows */
int bench_ridge_device(const bench_args *a, char name[144], bench_list *list);

#endif

/*
 * Programs that repeat something for many seeds: the ranks of mpirun or srun share the seeds out. All get the
 * numbers of every seed, and what they print is the same as that of one process.
 */
#ifndef BENCH_SEEDS_H
#define BENCH_SEEDS_H

#include <stddef.h>

/* The beginning of main(), and its end: rank 0 alone prints in between. */
void seeds_begin(void);
void seeds_end(void);

/* The numbers of one seed; may be called by several threads at a time. A failure ends the program. */
typedef void (*seeds_fn)(void *ctx, size_t seed, double *numbers);

/* numbers + s*each of every seed s = 0 ... seeds-1, to be freed; threads: seeds at a time, in each rank */
double *seeds_map(size_t seeds, size_t each, int threads, seeds_fn one, void *ctx);

#endif

/* Processes whose kernel's spectrum is known, for programs that measure how well it is recovered. */
#ifndef BENCH_PROCESSES_H
#define BENCH_PROCESSES_H

#include "kspec.h"

typedef struct process process;

enum { PROCESSES = 20 };

/* The name of process k < PROCESSES: "power1", "rff-4x5", "images-relu". */
const char *process_name(int k);

/*
 * Process k with its spectrum, or NULL where its data are not below `data` (or data is NULL). Those of data
 * are features of a fixed set of 1500 rows, sampled with replacement: an eigenproblem of that order gives the
 * truth.
 */
process *process_open(int k, const char *data);
void process_close(process *p);

/* The eigenvalues, decreasing, and their sum. */
size_t process_truth(const process *p, const double **lambda, double *trace);

/* x (P x Q) = one matrix; noise: the variance of independent noise in each entry. */
void process_draw(const process *p, size_t P, size_t Q, double noise, uint64_t seed, double *x);

#endif

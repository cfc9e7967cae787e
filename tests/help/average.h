/* A mean over seeds, and its z against a true value. */
#ifndef HELP_AVERAGE_H
#define HELP_AVERAGE_H

#include <math.h>

typedef struct {
    double sum, squares, count;
} average;

static inline void note(average *a, double x) { a->sum += x, a->squares += x * x, a->count++; }
static inline double z_of(const average *a, double truth) {
    double mean = a->sum / a->count, var = (a->squares / a->count - mean * mean) / (a->count - 1);
    return (mean - truth) / sqrt(var);
}

#endif

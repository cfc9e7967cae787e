/*
 * Centred kernels and finite populations as their definitions read. Each of the n row positions of a cycle is
 * one row, or minus two independent ones; columns likewise. From P rows of a population of N, the mean over
 * all tuples of the population is the sum over partitions pi of the slots of (N)_|pi| / N^r times the mean
 * over tuples of distinct rows, one per block, of which the sample's mean is an unbiased estimate.
 */
#ifndef TERMS_ORACLE_H
#define TERMS_ORACLE_H

#include "oracle/exact.h"

#include <math.h>

typedef struct {
    ks_pair p;
    /* by side: is it centred, and the size of its population or INFINITY */
    int split[2];
    double population[2];
    /* the term at hand: for each side, the slot at the end of each edge, and the block of each slot */
    int n, slots[2], slot[2][8], block[2][8], blocks[2], index[2][8];
    int done[2];
} terms_oracle;

static inline long double terms_value(const terms_oracle *t) {
    long double x = 1;
    for (int e = 0; e < 2 * t->n; e++) { /* edge 2l: A[i_l, a_l]; edge 2l+1: B[i_(l+1), a_l] */
        size_t i = (size_t)t->index[0][t->block[0][t->slot[0][e]]],
               a = (size_t)t->index[1][t->block[1][t->slot[1][e]]];
        x *= (e % 2 ? t->p.B : t->p.A)[i * t->p.Q + a];
    }
    return x;
}

/* Sum over different indices for the blocks of both sides, from block b of `side` on */
static inline long double terms_sum(terms_oracle *t, int side, int b) {
    if (b == t->blocks[side]) return side == 0 ? terms_sum(t, 1, 0) : terms_value(t);
    long double sum = 0;
    for (int i = 0; i < (int)(side ? t->p.Q : t->p.P); i++) {
        int used = 0;
        for (int k = 0; k < b; k++) used |= t->index[side][k] == i;
        t->index[side][b] = i;
        if (!used) sum += terms_sum(t, side, b + 1);
    }
    return sum;
}

/* Sum over the partitions of the slots from `slot` of `side` on, weighted */
static inline long double terms_partitions(terms_oracle *t, int side, int slot) {
    if (side == 2) {
        long double w = 1;
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < t->slots[s]; k++) {
                if (k < t->blocks[s]) /* (N)_p / (N^p (P)_p) */
                    w *= (isinf(t->population[s]) ? 1 : (t->population[s] - k) / t->population[s]) /
                         (long double)((s ? t->p.Q : t->p.P) - (size_t)k);
                else
                    w /= t->population[s];
            }
        return w * terms_sum(t, 0, 0);
    }
    if (slot == t->slots[side]) {
        if (t->blocks[side] > t->population[side]) return 0;
        if (side == 0) t->blocks[1] = 0;
        return terms_partitions(t, side + 1, 0);
    }
    long double sum = 0;
    int blocks = t->blocks[side], first = isinf(t->population[side]) ? blocks : 0; /* infinite: all differ */
    for (int b = first; b <= blocks; b++) {
        t->block[side][slot] = b;
        t->blocks[side] = b == blocks ? blocks + 1 : blocks;
        sum += terms_partitions(t, side, slot + 1);
    }
    t->blocks[side] = blocks;
    return sum;
}

/* The unbiased estimate of the moment of order n. */
static inline double terms_moment(terms_oracle *t, int n) {
    long double sum = 0;
    t->n = n;
    for (int rows = 0; rows < (t->split[0] ? 1 << n : 1); rows++)
        for (int cols = 0; cols < (t->split[1] ? 1 << n : 1); cols++) {
            t->slots[0] = t->slots[1] = t->blocks[0] = t->blocks[1] = 0;
            for (int l = 0; l < n; l++) { /* row l: edges 2l-1 and 2l; column l: edges 2l and 2l+1 */
                t->slot[0][(2 * l + 2 * n - 1) % (2 * n)] = t->slots[0];
                t->slot[0][2 * l] = t->slots[0] += rows >> l & 1;
                t->slots[0]++;
                t->slot[1][2 * l] = t->slots[1];
                t->slot[1][2 * l + 1] = t->slots[1] += cols >> l & 1;
                t->slots[1]++;
            }
            int minus = (t->slots[0] + t->slots[1]) % 2;
            sum += (minus ? -1 : 1) * terms_partitions(t, 0, 0);
        }
    return (double)sum;
}

/* x (P x Q) with the means of its columns (over_rows) or of its rows removed */
static inline void terms_centre(double *x, size_t P, size_t Q, int over_rows) {
    size_t lines = over_rows ? Q : P, length = over_rows ? P : Q;
    for (size_t l = 0; l < lines; l++) {
        long double mean = 0;
        for (size_t k = 0; k < length; k++)
            mean += x[over_rows ? k * Q + l : l * Q + k] / (long double)length;
        for (size_t k = 0; k < length; k++) {
            double *e = &x[over_rows ? k * Q + l : l * Q + k];
            *e = (double)(*e - mean);
        }
    }
}

#endif

/*
 * The network in double precision, as it is written down: phi_i = sqrt(N) max(x.w_i, 0), y_j = sum_i a_ij
 * phi_i / sqrt(N), loss = mean over images of sum_j (y_j - t_j)^2; its gradient, sum by sum; Adam as
 * published, bias corrections and all.
 */
#ifndef LEARN_ORACLE_H
#define LEARN_ORACLE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t N, d, C;
    double *p, *g, *m, *v; /* N x d hidden weights, then N x C output weights; gradient; Adam's means */
    double rate;
    int t;
} oracle;

static inline size_t oracle_size(const oracle *o) { return o->N * (o->d + o->C); }

static inline oracle oracle_new(size_t N, size_t d, size_t C, double rate) {
    oracle o = {N, d, C, NULL, NULL, NULL, NULL, rate, 0};
    double **parts[] = {&o.p, &o.g, &o.m, &o.v};
    for (int k = 0; k < 4; k++) *parts[k] = calloc(oracle_size(&o), sizeof(double));
    return o;
}

static inline void oracle_free(oracle *o) { free(o->p), free(o->g), free(o->m), free(o->v); }

/* The loss of n images (n x d) with these labels; grad: o->g becomes its gradient. */
static inline double oracle_loss(oracle *o, const double *x, const int *label, size_t n, int grad) {
    double loss = 0, root = sqrt((double)o->N), *phi = malloc(o->N * sizeof *phi);
    const double *W = o->p, *A = o->p + o->N * o->d;
    if (grad) memset(o->g, 0, oracle_size(o) * sizeof *o->g);
    for (size_t b = 0; b < n; b++) {
        const double *xb = x + b * o->d;
        for (size_t i = 0; i < o->N; i++) {
            double sum = 0;
            for (size_t k = 0; k < o->d; k++) sum += xb[k] * W[i * o->d + k];
            phi[i] = root * fmax(sum, 0);
        }
        for (size_t j = 0; j < o->C; j++) {
            double y = -(double)(label[b] == (int)j);
            for (size_t i = 0; i < o->N; i++) y += A[i * o->C + j] * phi[i] / root;
            loss += y * y / (double)n;
            for (size_t i = 0; grad && i < o->N; i++) {
                double r = 2 * y / (double)n;
                o->g[o->N * o->d + i * o->C + j] += r * phi[i] / root;
                /* d phi / d (x.w) is sqrt(N) where the neuron is active */
                for (size_t k = 0; k < o->d && phi[i] > 0; k++)
                    o->g[i * o->d + k] += r * A[i * o->C + j] / root * root * xb[k];
            }
        }
    }
    free(phi);
    return loss;
}

static inline void oracle_adam(oracle *o) {
    o->t++;
    for (size_t k = 0; k < oracle_size(o); k++) {
        o->m[k] = 0.9 * o->m[k] + 0.1 * o->g[k];
        o->v[k] = 0.999 * o->v[k] + 0.001 * o->g[k] * o->g[k];
        double m = o->m[k] / (1 - pow(0.9, o->t)), v = o->v[k] / (1 - pow(0.999, o->t));
        o->p[k] -= o->rate * m / (sqrt(v) + 1e-8);
    }
}

#endif

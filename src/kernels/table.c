/* The table of one instruction set: this file, too, is compiled once for each. */
#include "kernels/kernels.h"
#include "kernels/vec.h"

void KS_K(ks_box_muller)(double *u, double *v, size_t n);
void KS_K(ks_sin_features)(double *z, const double *b, size_t n);
void KS_K(ks_cos_sin)(double *c, double *s, size_t n);
void KS_K(ks_cosh_sinh)(double *c, double *s, double q0, const double *q, size_t n);
void KS_K(ks_hadamard)(double *z, size_t n, int add, double w, const double *col, int count,
                       const double *const *x, const int *power);
void KS_K(ks_path_sweep)(const ks_path_cell *c);
void KS_K(ks_path_sweep_trials)(const ks_path_cell *c, const double *const *x, const double *const *y);
void KS_K(ks_path_loo)(const ks_path_loo_cell *c);
void KS_K(ks_path_close)(size_t cols, int nmax, int orders, const double *A, const double *last, double *sum);

extern const ks_kernels KS_K(ks_kernels);
const ks_kernels KS_K(ks_kernels) = {
    .box_muller = KS_K(ks_box_muller),
    .sin_features = KS_K(ks_sin_features),
    .cos_sin = KS_K(ks_cos_sin),
    .cosh_sinh = KS_K(ks_cosh_sinh),
    .hadamard = KS_K(ks_hadamard),
    .lanes = VL,
    .path_sweep = KS_K(ks_path_sweep),
    .path_sweep_trials = KS_K(ks_path_sweep_trials),
    .path_loo = KS_K(ks_path_loo),
    .path_close = KS_K(ks_path_close),
};

/* The table of one instruction set: this file, too, is compiled once for each. */
#include "simd/simd.h"
#include "simd/vec.h"

void KS_K(ks_box_muller)(double *u, double *v, size_t n);
void KS_K(ks_sin_features)(double *z, const double *b, size_t n);
void KS_K(ks_cos_sin)(double *c, double *s, size_t n);
void KS_K(ks_cosh_sinh)(double *c, double *s, double q0, const double *q, size_t n);
void KS_K(ks_cos_turns)(double *z, const double *b, double scale, size_t n);
void KS_K(ks_gram_exp)(double *c, const double *h, double hi, size_t n);
void KS_K(ks_gram_row)(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                       size_t n);
void KS_K(ks_tile_product)(const double *K, size_t ld, size_t rows, size_t cols, const double *x,
                           const double *y, double *left, double *right);
void KS_K(ks_normal_product)(const double *Z, size_t rows, size_t n, const double *v, double *w);
void KS_K(ks_resolvent)(const double *lambda, const double *weight, size_t ones, size_t n, double re,
                        double im, double sums[5]);
void KS_K(ks_hadamard)(double *z, size_t n, int add, double w, const double *col, int count,
                       const double *const *x, const int *power);
void KS_K(ks_path_sweep)(const ks_path_cell *c);
void KS_K(ks_path_sweep_trials)(const ks_path_cell *c, const double *const *x, const double *const *y);
void KS_K(ks_path_loo)(const ks_path_loo_cell *c);
void KS_K(ks_path_group_row)(const ks_path_group_row *r);
void KS_K(ks_path_close)(size_t cols, int nmax, int orders, const double *A, const double *last, double *sum);
void KS_K(ks_pairs_strip)(const ks_pairs_panel *p, const double *keep, double *each, double *left);
void KS_K(ks_twice_sums)(const ks_twice_pair *c, double *sums);
void KS_K(ks_twice_rows)(const ks_twice_pair *c, const double *s, const double *v, const double *v2,
                         double weight, double *lists);
void KS_K(ks_train_product)(const ks_train_product *p, float *out, size_t ld);
void KS_K(ks_train_adam)(const ks_train_product *p, const ks_adam *s, float *w, float *m, float *v,
                         size_t ld);

extern const ks_simd KS_K(ks_simd);
const ks_simd KS_K(ks_simd) = {
    .box_muller = KS_K(ks_box_muller),
    .sin_features = KS_K(ks_sin_features),
    .cos_sin = KS_K(ks_cos_sin),
    .cosh_sinh = KS_K(ks_cosh_sinh),
    .cos_turns = KS_K(ks_cos_turns),
    .gram_exp = KS_K(ks_gram_exp),
    .gram_row = KS_K(ks_gram_row),
    .tile_product = KS_K(ks_tile_product),
    .normal_product = KS_K(ks_normal_product),
    .hadamard = KS_K(ks_hadamard),
    .resolvent = KS_K(ks_resolvent),
    .lanes = VL,
    .path_sweep = KS_K(ks_path_sweep),
    .path_sweep_trials = KS_K(ks_path_sweep_trials),
    .path_loo = KS_K(ks_path_loo),
    .path_group_row = KS_K(ks_path_group_row),
    .path_close = KS_K(ks_path_close),
    .pairs_strip = KS_K(ks_pairs_strip),
    .twice_sums = KS_K(ks_twice_sums),
    .twice_rows = KS_K(ks_twice_rows),
    .train_product = KS_K(ks_train_product),
    .train_adam = KS_K(ks_train_adam),
};

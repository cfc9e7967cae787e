/* The table of one instruction set: this file, too, is compiled once for each. */
#include "kernels/kernels.h"
#include "kernels/vec.h"

void KS_K(ks_box_muller)(double *u, double *v, size_t n);
void KS_K(ks_sin_features)(double *z, const double *b, size_t n);
void KS_K(ks_hadamard)(double *z, size_t n, int add, double w, const double *col, int count,
                       const double *const *x, const int *power);

extern const ks_kernels KS_K(ks_kernels);
const ks_kernels KS_K(ks_kernels) = {
    .box_muller = KS_K(ks_box_muller),
    .sin_features = KS_K(ks_sin_features),
    .hadamard = KS_K(ks_hadamard),
};

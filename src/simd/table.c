/* Fills the table of loops of one instruction set. The build compiles this file once for each set. */
#include "simd/simd.h"
#include "simd/vec.h"

/* clang-format off */
#define FUNCTIONS(X) \
    X(box_muller) X(sin_features) X(cos_sin) X(cosh_sinh) X(cos_turns) X(gram_exp) X(gram_row) \
    X(tile_product) X(normal_product) X(hadamard) X(resolvent) X(path_sweep) X(path_sweep_trials) \
    X(path_loo) X(path_group_row) X(path_close) X(pairs_strip) X(twice_sums) X(twice_rows) \
    X(train_product) X(train_adam)
/* clang-format on */
#define DECLARE(name) KS_DECLARE(name);
#define ENTRY(name)   .name = KS_K(ks_##name),

FUNCTIONS(DECLARE)
extern const ks_simd KS_K(ks_simd);
const ks_simd KS_K(ks_simd) = {FUNCTIONS(ENTRY).lanes = VL};

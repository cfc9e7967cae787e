/*
 * Computes the two matrix products that train a layer. ks_train_product() stores a b, and ks_train_adam()
 * uses a b as the gradient of one step. The product is computed in tiles of TILE_ROWS x 2 registers, by
 * broadcasting entries of a. The matrix b is a small mini-batch and stays in the second-level cache. The
 * gradient is never stored. Adam takes each tile from the registers, so that only w, m and v pass through
 * memory, once per step.
 */
#include "simd/train.h"

#include "simd/vecf.h"

/* Computes one tile of the product: sum[r][c] is row r of a times column register c of b. */
KS_INLINE void tile(const ks_train_product *p, const float *a, const float *b, int columns,
                    vf sum[TILE_ROWS][2]) {
    KS_UNROLL
    for (int r = 0; r < TILE_ROWS; r++)
        for (int c = 0; c < columns; c++) sum[r][c] = vf_set(0);
    for (size_t k = 0; k < p->depth; k++) {
        vf x[2];
        for (int c = 0; c < columns; c++) x[c] = vf_load(b + k * p->ldb + c * VF);
        KS_UNROLL
        for (int r = 0; r < TILE_ROWS; r++) {
            vf y = vf_set(a[(size_t)r * p->lda + k]);
            for (int c = 0; c < columns; c++) sum[r][c] = vf_fma(y, x[c], sum[r][c]);
        }
    }
}

KS_INLINE void store(vf sum[TILE_ROWS][2], int columns, float *out, size_t ld) {
    KS_UNROLL
    for (int r = 0; r < TILE_ROWS; r++)
        for (int c = 0; c < columns; c++) vf_store(out + (size_t)r * ld + c * VF, sum[r][c]);
}

KS_INLINE void update(vf sum[TILE_ROWS][2], int columns, const ks_adam *s, float *w, float *m, float *v,
                      size_t ld) {
    const vf b1 = vf_set(s->b1), c1 = vf_set(s->c1), b2 = vf_set(s->b2), c2 = vf_set(s->c2),
             rate = vf_set(s->rate), eps = vf_set(s->eps);
    KS_UNROLL
    for (int r = 0; r < TILE_ROWS; r++)
        for (int c = 0; c < columns; c++) {
            size_t at = (size_t)r * ld + (size_t)c * VF;
            vf g = sum[r][c];
            vf mk = vf_fma(c1, g, b1 * vf_load(m + at)), vk = vf_fma(c2 * g, g, b2 * vf_load(v + at));
            vf_store(m + at, mk);
            vf_store(v + at, vk);
            vf_store(w + at, vf_load(w + at) - rate * mk / (vf_sqrt(vk) + eps));
        }
}

KS_DECLARE(train_product);
void KS_K(ks_train_product)(const ks_train_product *p, float *out, size_t ld) {
    vf sum[TILE_ROWS][2];
    for (size_t i = 0; i < p->rows; i += TILE_ROWS) {
        const float *a = p->a + i * p->lda;
        float *o = out + i * ld;
        size_t j = 0;
        for (; j + 2 * VF <= p->cols; j += 2 * VF) {
            tile(p, a, p->b + j, 2, sum);
            store(sum, 2, o + j, ld);
        }
        if (j < p->cols) {
            tile(p, a, p->b + j, 1, sum);
            store(sum, 1, o + j, ld);
        }
    }
}

KS_DECLARE(train_adam);
void KS_K(ks_train_adam)(const ks_train_product *p, const ks_adam *s, float *w, float *m, float *v,
                         size_t ld) {
    vf sum[TILE_ROWS][2];
    unsigned mode = vf_flush_begin();
    for (size_t i = 0; i < p->rows; i += TILE_ROWS) {
        const float *a = p->a + i * p->lda;
        size_t j = 0, row = i * ld;
        for (; j + 2 * VF <= p->cols; j += 2 * VF) {
            tile(p, a, p->b + j, 2, sum);
            update(sum, 2, s, w + row + j, m + row + j, v + row + j, ld);
        }
        if (j < p->cols) {
            tile(p, a, p->b + j, 1, sum);
            update(sum, 1, s, w + row + j, m + row + j, v + row + j, ld);
        }
    }
    vf_flush_end(mode);
}

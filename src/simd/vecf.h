/*
 * Wraps one vector register of floats, under the same names for every instruction set. vec.h does the same
 * for doubles. VF is the number of lanes. Registers can hold the sums of TILE_ROWS rows, with two registers
 * per row.
 */
#pragma once

#include "simd/vec.h"

#if defined(KS_FOR_AVX512)

typedef __m512 vf;
enum { VF = 16, TILE_ROWS = 8 };
static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm512_fmadd_ps(x, y, z); }
static inline vf vf_sqrt(vf x) { return _mm512_sqrt_ps(x); }

#elif defined(KS_FOR_AVX2)

typedef __m256 vf;
enum { VF = 8, TILE_ROWS = 4 };
static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf vf_fma(vf x, vf y, vf z) { return _mm256_fmadd_ps(x, y, z); }
static inline vf vf_sqrt(vf x) { return _mm256_sqrt_ps(x); }

#else

/* The compilers gcc and clang map these four floats to the processor's registers. */
typedef float vf __attribute__((vector_size(16)));
enum { VF = 4, TILE_ROWS = 4 };
static inline vf vf_load(const float *p) { return (vf){p[0], p[1], p[2], p[3]}; }
static inline void vf_store(float *p, vf x) {
    for (int k = 0; k < VF; k++) p[k] = x[k];
}
static inline vf vf_set(float x) { return (vf){x, x, x, x}; }
static inline vf vf_fma(vf x, vf y, vf z) { return x * y + z; }
static inline vf vf_sqrt(vf x) { return (vf){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])}; }

#endif

/*
 * Between vf_flush_begin() and vf_flush_end(), numbers below 2^-126 count as 0. Arithmetic on numbers below
 * 2^-126, to which the means of a silent neuron decay, is a hundred times slower.
 */
#if defined(__SSE__)
#include <xmmintrin.h>
static inline unsigned vf_flush_begin(void) {
    unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
    return mode;
}
static inline void vf_flush_end(unsigned mode) { _mm_setcsr(mode); }
#else
static inline unsigned vf_flush_begin(void) { return 0; }
static inline void vf_flush_end(unsigned mode) { (void)mode; }
#endif

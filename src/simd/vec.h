/*
 * Wraps one vector register of doubles, under the same names for every instruction set. The build compiles a
 * source with KS_FOR_<NAME> defined, and KS_K(f) gives its functions the instruction set's name.
 *
 * VL is the number of lanes. The _fixed functions (SLEEF's "cinz" variants) use no fused multiply-add, so
 * they return the same bits on every instruction set. The other functions are the fastest with an error of 1
 * ulp (vd_atan2: 3.5). vd_fma is xy + z and vd_fnma is z - xy, rounded once if the processor can do so.
 * vd_round returns the nearest integer, and vd_pow2 returns 2^k for an integer k from -1022 to 1023. vd_below
 * is 1 for lanes with x < y, and otherwise 0. vd_sum adds the lanes.
 */
#pragma once

#include "simd/simd.h"

#include <sleef.h>
#include <stddef.h>

/*
 * KS_UNROLL unrolls a loop over registers. The number of rounds is a constant once the function around the
 * loop is inlined. With a sanitizer's checks, inlining and unrolling would take the compiler a minute.
 */
#if defined(KSPEC_SANITIZED)
#define KS_INLINE static inline
#define KS_UNROLL
#else
#define KS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define KS_UNROLL _Pragma("unroll")
#else
#define KS_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

#if defined(KS_FOR_AVX512)

#include <immintrin.h>
#define KS_K(name) name##_avx512
typedef __m512d vd;
enum { VL = 8 };
static inline vd vd_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm512_storeu_pd(p, x); }
static inline vd vd_set(double x) { return _mm512_set1_pd(x); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm512_fmadd_pd(x, y, z); }
static inline vd vd_fnma(vd x, vd y, vd z) { return _mm512_fnmadd_pd(x, y, z); }
static inline vd vd_sqrt(vd x) { return _mm512_sqrt_pd(x); }
static inline vd vd_abs(vd x) { return _mm512_abs_pd(x); }
static inline vd vd_min(vd x, vd y) { return _mm512_min_pd(x, y); }
static inline vd vd_round(vd x) {
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vd vd_max(vd x, vd y) { return _mm512_max_pd(x, y); }
static inline vd vd_pow2(vd k) { return _mm512_scalef_pd(_mm512_set1_pd(1), k); }
static inline double vd_sum(vd x) { return _mm512_reduce_add_pd(x); }
static inline vd vd_sin(vd x) { return Sleef_sind8_u10avx512f(x); }
static inline vd vd_cos(vd x) { return Sleef_cosd8_u10avx512f(x); }
static inline vd vd_exp(vd x) { return Sleef_expd8_u10avx512f(x); }
static inline vd vd_log_fixed(vd x) { return Sleef_cinz_logd8_u10avx512fnofma(x); }
typedef Sleef___m512d_2 vd_pair;
static inline vd_pair vd_sincospi_fixed(vd x) { return Sleef_cinz_sincospid8_u05avx512fnofma(x); }
static inline vd_pair vd_sincos(vd x) { return Sleef_sincosd8_u10avx512f(x); }
static inline vd vd_expm1(vd x) { return Sleef_expm1d8_u10avx512f(x); }
static inline vd vd_below(vd x, vd y) {
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), _mm512_set1_pd(1));
}
static inline vd vd_atan2(vd y, vd x) { return Sleef_atan2d8_u35avx512f(y, x); }
static inline vd vd_copysign(vd x, vd y) { return Sleef_copysignd8_avx512f(x, y); }

#elif defined(KS_FOR_AVX2)

#include <immintrin.h>
#define KS_K(name) name##_avx2
typedef __m256d vd;
enum { VL = 4 };
static inline vd vd_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void vd_store(double *p, vd x) { _mm256_storeu_pd(p, x); }
static inline vd vd_set(double x) { return _mm256_set1_pd(x); }
static inline vd vd_fma(vd x, vd y, vd z) { return _mm256_fmadd_pd(x, y, z); }
static inline vd vd_fnma(vd x, vd y, vd z) { return _mm256_fnmadd_pd(x, y, z); }
static inline vd vd_sqrt(vd x) { return _mm256_sqrt_pd(x); }
static inline vd vd_abs(vd x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
static inline vd vd_min(vd x, vd y) { return _mm256_min_pd(x, y); }
static inline vd vd_round(vd x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
static inline vd vd_max(vd x, vd y) { return _mm256_max_pd(x, y); }
/* The exponent's field is k + 1023. Adding 2^52 + 2^51 puts it into the last bits. */
static inline vd vd_pow2(vd k) {
    __m256i bits = _mm256_castpd_si256(_mm256_add_pd(k, _mm256_set1_pd(0x1.8p52 + 1023)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(bits, 52));
}
static inline double vd_sum(vd x) {
    __m128d h = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(h, _mm_unpackhi_pd(h, h)));
}
static inline vd vd_sin(vd x) { return Sleef_sind4_u10avx2(x); }
static inline vd vd_cos(vd x) { return Sleef_cosd4_u10avx2(x); }
static inline vd vd_exp(vd x) { return Sleef_expd4_u10avx2(x); }
static inline vd vd_log_fixed(vd x) { return Sleef_cinz_logd4_u10avx(x); }
typedef Sleef___m256d_2 vd_pair;
static inline vd_pair vd_sincospi_fixed(vd x) { return Sleef_cinz_sincospid4_u05avx(x); }
static inline vd_pair vd_sincos(vd x) { return Sleef_sincosd4_u10avx2(x); }
static inline vd vd_expm1(vd x) { return Sleef_expm1d4_u10avx2(x); }
static inline vd vd_below(vd x, vd y) {
    return _mm256_and_pd(_mm256_cmp_pd(x, y, _CMP_LT_OQ), _mm256_set1_pd(1));
}
static inline vd vd_atan2(vd y, vd x) { return Sleef_atan2d4_u35avx2(y, x); }
static inline vd vd_copysign(vd x, vd y) { return Sleef_copysignd4_avx2(x, y); }

#elif defined(KS_FOR_NEON)

#include <arm_neon.h>
#include <math.h>
#define KS_K(name) name##_neon
typedef float64x2_t vd;
enum { VL = 2 };
static inline vd vd_load(const double *p) { return vld1q_f64(p); }
static inline void vd_store(double *p, vd x) { vst1q_f64(p, x); }
static inline vd vd_set(double x) { return vdupq_n_f64(x); }
static inline vd vd_fma(vd x, vd y, vd z) { return vfmaq_f64(z, x, y); }
static inline vd vd_fnma(vd x, vd y, vd z) { return vfmsq_f64(z, x, y); }
static inline vd vd_sqrt(vd x) { return vsqrtq_f64(x); }
static inline vd vd_abs(vd x) { return vabsq_f64(x); }
/* If x or y is NaN, vd_min() returns y. */
static inline vd vd_min(vd x, vd y) { return vbslq_f64(vcltq_f64(x, y), x, y); }
static inline vd vd_round(vd x) { return vrndnq_f64(x); }
static inline vd vd_max(vd x, vd y) { return vbslq_f64(vcgtq_f64(x, y), x, y); }
static inline vd vd_pow2(vd k) {
    return vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(vcvtq_s64_f64(k), vdupq_n_s64(1023)), 52));
}
static inline double vd_sum(vd x) { return vaddvq_f64(x); }
static inline vd vd_sin(vd x) { return Sleef_sind2_u10advsimd(x); }
static inline vd vd_cos(vd x) { return Sleef_cosd2_u10advsimd(x); }
static inline vd vd_exp(vd x) { return Sleef_expd2_u10advsimd(x); }
static inline vd vd_log_fixed(vd x) { return Sleef_cinz_logd2_u10advsimdnofma(x); }
typedef Sleef_float64x2_t_2 vd_pair;
static inline vd_pair vd_sincospi_fixed(vd x) { return Sleef_cinz_sincospid2_u05advsimdnofma(x); }
static inline vd_pair vd_sincos(vd x) { return Sleef_sincosd2_u10advsimd(x); }
static inline vd vd_expm1(vd x) { return Sleef_expm1d2_u10advsimd(x); }
static inline vd vd_below(vd x, vd y) { return vbslq_f64(vcltq_f64(x, y), vd_set(1), vd_set(0)); }
static inline vd vd_atan2(vd y, vd x) { return Sleef_atan2d2_u35advsimd(y, x); }
static inline vd vd_copysign(vd x, vd y) { return Sleef_copysignd2_advsimd(x, y); }

#else

#include <math.h>
#define KS_K(name) name##_generic
typedef double vd;
enum { VL = 1 };
static inline vd vd_load(const double *p) { return *p; }
static inline void vd_store(double *p, vd x) { *p = x; }
static inline vd vd_set(double x) { return x; }
static inline vd vd_fma(vd x, vd y, vd z) { return x * y + z; } /* avoids a function call */
static inline vd vd_fnma(vd x, vd y, vd z) { return z - x * y; }
static inline vd vd_sqrt(vd x) { return sqrt(x); }
static inline vd vd_abs(vd x) { return fabs(x); }
static inline vd vd_min(vd x, vd y) { return x < y ? x : y; }
static inline vd vd_round(vd x) { return rint(x); }
static inline vd vd_max(vd x, vd y) { return x > y ? x : y; }
static inline vd vd_pow2(vd k) { return ldexp(1, (int)k); }
static inline double vd_sum(vd x) { return x; }
static inline vd vd_sin(vd x) { return Sleef_sind1_u10purec(x); }
static inline vd vd_cos(vd x) { return Sleef_cosd1_u10purec(x); }
static inline vd vd_exp(vd x) { return Sleef_expd1_u10purec(x); }
static inline vd vd_log_fixed(vd x) { return Sleef_cinz_logd1_u10purec(x); }
typedef Sleef_double_2 vd_pair;
static inline vd_pair vd_sincospi_fixed(vd x) { return Sleef_cinz_sincospid1_u05purec(x); }
static inline vd_pair vd_sincos(vd x) { return Sleef_sincosd1_u10purec(x); }
static inline vd vd_expm1(vd x) { return Sleef_expm1d1_u10purec(x); }
static inline vd vd_below(vd x, vd y) { return x < y; }
static inline vd vd_atan2(vd y, vd x) { return Sleef_atan2d1_u35purec(y, x); }
static inline vd vd_copysign(vd x, vd y) { return copysign(x, y); }

#endif

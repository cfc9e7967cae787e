/*
 * CBLAS and LAPACKE from any library, and the few calls that differ between libraries. kspec is optimised for
 * OpenBLAS, but works with every library that has these two interfaces (cmake/blas.cmake finds one).
 */
#pragma once

#ifdef KSPEC_MKL
#include <mkl_cblas.h>
#include <mkl_lapacke.h>
#else
#include <cblas.h>
#include <lapacke.h>
#endif

#ifdef BLAS_SYMBOL_PREFIX /* PyPI's scipy-openblas32 has a prefix before every name */
#define KS_BLAS_JOIN(prefix, name) prefix##name
#define KS_BLAS_NAME(prefix, name) KS_BLAS_JOIN(prefix, name)
#define cblas_ddot                 KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_ddot)
#define cblas_dgemm                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_dgemm)
#define cblas_dgemv                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_dgemv)
#define cblas_dsyrk                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_dsyrk)
#define cblas_dtrsm                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_dtrsm)
#define cblas_zgemm                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_zgemm)
#define cblas_ztrsm                KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, cblas_ztrsm)
#define LAPACKE_dgeqrf_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dgeqrf_work)
#define LAPACKE_dgesdd_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dgesdd_work)
#define LAPACKE_dormtr_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dormtr_work)
#define LAPACKE_dpotrf_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dpotrf_work)
#define LAPACKE_dstemr_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dstemr_work)
#define LAPACKE_dsterf             KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dsterf)
#define LAPACKE_dsyevd_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dsyevd_work)
#define LAPACKE_dsyevr_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dsyevr_work)
#define LAPACKE_dsytrd_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_dsytrd_work)
#define LAPACKE_zgeqrf_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_zgeqrf_work)
#define LAPACKE_zgetrf_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_zgetrf_work)
#define LAPACKE_zgetri_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_zgetri_work)
#define LAPACKE_zungqr_work        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, LAPACKE_zungqr_work)
#define openblas_get_config        KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, openblas_get_config)
#define openblas_get_corename      KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, openblas_get_corename)
#define openblas_get_num_threads   KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, openblas_get_num_threads)
#define openblas_set_num_threads   KS_BLAS_NAME(BLAS_SYMBOL_PREFIX, openblas_set_num_threads)
#endif

/*
 * How OpenBLAS describes its build: "OpenBLAS 0.3.21 DYNAMIC_ARCH … MAX_THREADS=64". "" for another BLAS.
 */
const char *ks_blas_config(void);

/* The processor for which OpenBLAS chose its routines, such as "SkylakeX". "" for another BLAS. */
const char *ks_blas_core_name(void);

/*
 * The threads that one call may use. OpenBLAS, BLIS and MKL can change this number; other libraries use one
 * thread.
 */
int ks_blas_threads(void);
void ks_blas_set_threads(int threads);

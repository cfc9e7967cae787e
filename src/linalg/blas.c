/* Controls the threads of the BLAS library, and names the library. */
#include "linalg/blas.h"

#ifdef KSPEC_OPENBLAS
const char *ks_blas_config(void) { return openblas_get_config(); }

const char *ks_blas_core_name(void) { return openblas_get_corename(); }

int ks_blas_threads(void) { return openblas_get_num_threads(); }

void ks_blas_set_threads(int threads) { openblas_set_num_threads(threads); }
#else
/* The headers of BLIS and MKL declare these functions. A BLAS that has none of them runs one thread. */
__attribute__((weak)) long bli_thread_get_num_threads(void);
__attribute__((weak)) void bli_thread_set_num_threads(long);
__attribute__((weak)) int MKL_Get_Max_Threads(void);
__attribute__((weak)) void MKL_Set_Num_Threads(int);

const char *ks_blas_config(void) { return ""; }

const char *ks_blas_core_name(void) { return ""; }

int ks_blas_threads(void) {
    if (bli_thread_get_num_threads) return (int)bli_thread_get_num_threads();
    return MKL_Get_Max_Threads ? MKL_Get_Max_Threads() : 1;
}

void ks_blas_set_threads(int threads) {
    if (bli_thread_set_num_threads) bli_thread_set_num_threads(threads);
    if (MKL_Set_Num_Threads) MKL_Set_Num_Threads(threads);
}
#endif

/* kspec.h - estimates properties of the infinite kernel behind a finite matrix of measurements.
 *
 * This header and its parts are the manual. They compile alone as C11 and as C++. The contract, true of every
 * call:
 *
 *  - Shape. kspec_X(inputs, const kspec_X_opts *opts, kspec_X_result **out, kspec_error *err). Required
 *    inputs are arguments, borrowed and const; everything in the options has a default.
 *  - Options. NULL means all defaults. A struct of options begins with `size`, which must be its sizeof;
 *    every other field means "the default" if it is zero. New fields are added at the end only, so that a
 *    program built against an older header runs with a newer library. The reverse also works: the library
 *    accepts a larger struct than it knows if the unknown fields are zero. The default of every enum is 0.
 *    A flag is 1 for yes; a flag named no_X switches X off.
 *  - Results. The library allocates a result and returns it by pointer; kspec_free() frees it. Lists in
 *    results are arrays of pointers. So structs of results may grow; never copy one by value. After a failure
 *    the pointer is NULL and no memory is held. An `out` that is NULL is KSPEC_E_ARG. Handles have _open and
 *    _close in the same way. Calls whose results are plain numbers write them to the caller's arrays.
 *  - Failure. A call that can fail returns a kspec_status; its last argument is an optional kspec_error,
 *    owned by the caller, for the status and a one-line message that names the value and the bound. The
 *    library never prints, never exits and never asserts on input.
 *  - The status says whether the call worked; the result's doubts (kspec/doubt.h) say how good the answer is.
 *  - Bits. The same seed gives the same bits at any number of threads, and of processes (kspec/team.h).
 *  - Threads. Several threads may make calls at once. While a call runs, it sets the process's OpenBLAS to
 *    one thread, and restores the setting at the end: kspec runs its own threads around single-threaded BLAS
 *    calls. A call needs 256 kB of stack at most, and so do its threads.
 *
 * One name has one meaning. P and Q are the rows and columns of a matrix of measurements Phi (inputs by
 * features), n and p the rows and columns of a data table X. N counts random features or the neurons of a
 * layer, q the random features of a Gram matrix. wls.h keeps its paper's symbols: N points, P modes with p
 * learned ones, exponents alpha, beta, gamma.
 *
 *  - In options: `seed` is the seed of all random numbers, `threads` is 1 to 1024 (default: all processors,
 *    or the environment variable KSPEC_THREADS), `team` divides the work among processes (kspec/team.h; NULL:
 *    this process only), and `sigma` is the bandwidth of a kernel such as exp(-|x-y|^2/(2 sigma^2)), above 0
 *    and 1 by default. kspec/base.h describes `progress`, `center`, `device` and `data_memory`.
 *  - In results: `std_error` is a standard error, `ci_low` and `ci_high` are the ends of a nominal 95%
 *    interval, `rounding` bounds the change of the value by rounding, which the interval includes, `device`
 *    tells where the call computed, and `seconds` how long. A number that is undefined or was not requested
 *    is NaN, an array of such numbers NULL.
 *
 * Structs that are passed by value or pointed to without a size never change: kspec_matrix, kspec_error,
 * kspec_progress, kspec_operand, kspec_device_used, kspec_learn_scaling, kspec_learn_store.
 *
 * kspec/host.h has further functions for the tool and the Python package. It is not stable, and this header
 * does not include it. */
#ifndef KSPEC_H
#define KSPEC_H
#include "kspec/base.h"      /* version, status, environment, matrices, random numbers */
#include "kspec/doubt.h"     /* doubts about a result */
#include "kspec/kernel.h"    /* kinds of kernels, scaling of columns */
#include "kspec/theory.h"    /* spectra that are known in closed form */
#include "kspec/generate.h"  /* matrices whose kernel is known */
#include "kspec/moments.h"   /* spectral moments of the kernel operator, dimensionality */
#include "kspec/dimension.h" /* dimensionality of a matrix, alignment of two */
#include "kspec/unbiased.h"  /* unbiased estimates of products of entries, written as in einsum */
#include "kspec/spectrum.h"  /* eigenvalues from moments */
#include "kspec/norm.h"      /* Gram matrices, random features, the spectral norm */
#include "kspec/ridge.h"     /* ridge regression on random Fourier features */
#include "kspec/wls.h"       /* weighted least squares */
#include "kspec/learn.h"     /* kernel moments of a network while it learns */
#include "kspec/files.h"     /* reading matrices */
#include "kspec/team.h"      /* many processes, one result */
#endif

/*
 * kspec.h - what a finite matrix of measurements says about the infinite kernel behind it.
 *
 * This header and the parts that it includes are the manual. They compile alone as C11 and as C++.
 *
 * Conventions, true of every function here:
 *
 *  - A function that can fail returns a kspec_status. Its last argument is an optional kspec_error, owned by
 *    the caller, which receives the status and a one-line message naming the value and the bound it broke.
 *    Pass NULL if you do not want it. The library never prints, never exits, and never asserts on your input.
 *  - Inputs are borrowed and const. A result struct is filled by the call and released with its own _free
 *    function; after a failure it is empty (all zero), owns nothing, and may be freed all the same.
 *  - An options struct begins with `size`, which must be sizeof the struct; every other field means "the
 *    default" when it is zero. A NULL options pointer means all defaults. The size field lets a program built
 *    against an older header run with a newer library.
 *  - The status says whether the call worked; the result says how good the answer is.
 *  - The same seed gives the same bits at any number of threads.
 *  - Calls may be made from several threads at once. While a call runs, the process's OpenBLAS is set to
 *    one thread and put back at the end: kspec runs its own threads around single-threaded BLAS calls.
 */
#ifndef KSPEC_H
#define KSPEC_H

#include "kspec/base.h"     /* version, status, environment, matrices, random numbers */
#include "kspec/kernel.h"   /* kinds of kernels, scaling of columns */
#include "kspec/theory.h"   /* spectra that are known in closed form */
#include "kspec/generate.h" /* matrices whose kernel is known */
#include "kspec/moments.h"  /* spectral moments of the kernel operator */
#include "kspec/spectrum.h" /* eigenvalues from moments */
#include "kspec/wls.h"      /* weighted least squares */
#include "kspec/ridge.h"    /* ridge regression on random Fourier features */
#include "kspec/norm.h"     /* Gram matrices, random features, the spectral norm */
#include "kspec/learn.h"    /* kernel moments of a network while it learns */
#include "kspec/files.h"    /* reading and writing matrices */

#endif

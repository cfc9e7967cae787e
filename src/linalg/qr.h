/* Householder QR of real matrices. */
#pragma once

#include "kspec/base.h"

/*
 * Writes R of A = QR (A is m x n, column-major) to the upper triangle of A, min(m,n) x n, and overwrites the
 * rest. Allocates its workspace.
 */
kspec_status ks_qr(size_t m, size_t n, double *A, kspec_error *err);

/* Householder QR of real matrices. */
#pragma once

#include "kspec/base.h"

/*
 * A (m x n, column-major) becomes R of A = QR in its upper triangle, min(m,n) x n; what is below it is
 * overwritten. Allocates its own workspace.
 */
kspec_status ks_qr(size_t m, size_t n, double *A, kspec_error *err);

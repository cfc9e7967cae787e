/* Draws of the features S of a prediction's rows. */
#pragma once

#include "ridge/plan.h"

/* Doubles of scratch that a draw takes */
size_t ks_ridge_features_room(const kspec_ridge *r);

/*
 * S (n x width) = [cos(XW), sin(XW)], or f(XW), of this draw, and St (nt x width) of the test rows unless it
 * is NULL; with an intercept both less the means of S. Entry (j,k) of W is number k p + j of the draw's
 * stream, whatever N is.
 */
void ks_ridge_features(const kspec_ridge *r, size_t N, size_t draw, double *S, double *St, double *room);

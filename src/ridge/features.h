/* Draws the random features S of the rows of a prediction. */
#pragma once

#include "ridge/plan.h"

/* The number of doubles of scratch for one draw */
size_t ks_ridge_features_room(const kspec_ridge *r);

/*
 * Computes S (n x width) = [cos(XW), sin(XW)], or f(XW), for this draw, and St (nt x width) for the test rows
 * unless St is NULL. With an intercept, subtracts the means of S from both. Entry (j,k) of W is number k p +
 * j of the draw's stream, for every N.
 */
void ks_ridge_features(const kspec_ridge *r, size_t N, size_t draw, double *S, double *St, double *room);

/* Draws the random features S of the rows of a prediction. */
#pragma once

#include "ridge/plan.h"

/* Returns the number of doubles of scratch that one draw needs. */
size_t ks_ridge_features_room(const kspec_ridge *r);

/*
 * Computes S (n x width) = [cos(XW), sin(XW)], or f(XW), for one draw of W. It also computes St (nt x
 * width) for the test rows unless St is NULL. With an intercept, it subtracts the column means of S from
 * both S and St. Entry (j,k) of W is number k p + j of the draw's random stream, for every N.
 */
void ks_ridge_features(const kspec_ridge *r, size_t N, size_t draw, double *S, double *St, double *room);

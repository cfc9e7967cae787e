"""Every constant of the reference program; src/fit/tuning.h has the same."""

import math

# sample eigenvalues are used until this share of the trace is left
SHARE = 1e-5
# nodes and data: ranks 1..24 one by one, then every 7th part up to K, groups of a quarter beyond
SINGLE = 24
FINE = 1.07
COARSE = 1.25
# stop using eigenvalues where non-Gaussian factors shift the counts by more (.08 to .2 are alike)
CUT = 0.12
# points per unit of log t in the integral of that shift
GRID = 6
# angle of the path of that integral
PSI = 0.9 * math.pi
# a spectrum without an end has this many times min(P,Q) eigenvalues
EXT = 10
# share of the non-Gaussian shift added to the error
BETA = 1.0
# error of the forward map itself, in log s
EXTRA = 0.02
# half width in levels at which a variance is taken
DE = 0.1
# coordinate of a smooth spectrum: log i, sqrt(i-1/2), i
CS = (0.0, 0.5, 1.0)
# integrated Brownian motion over the used ranks
TAU = 1.0
# short-range term: SD (two of them), length in log i
SO = (0.1, 0.45)
ELL = 0.4
# name of the piecewise constant shape
FLAT = -1.0
SHAPES = tuple((c, so, TAU) for c in CS[:2] for so in SO) + ((1.0, SO[0], TAU), (FLAT, 0.0, 0.0))
# log prior odds for the piecewise constant shape where the rank is seen
FLATW = 2.0
# TAU of the one rough fit in which breaks are looked for
ROUGH = 30.0
# prior of level and slope
S0, S1, SLOPE = 10.0, 4.0, -2.0
# prior SD of a break's step and change of slope
STEP = 1.5
KINK = 3.0
# log prior odds against each break and against an end (log of about twelve places)
COST = 2.5
# further breaks or ends after the first structure (3 gives the same tables)
MAXMOVES = 1
# log of the noise about log of the lower half of the sample's sum
DUSTMEAN, DUSTSD = 1.0, 2.0
# log r step to which the evidence of an end is normalised
UNIT = 0.4
# ends tried, times K; refined by 4, 2, 1
ENDS = (0.1, 0.16, 0.25, 0.4, 0.6, 0.8, 1.0, 1.6, 2.5, 4.0)
# intervals: SDs times this (coverage of the first ten)
INFL = 1.15

/* What the names of an expression mean: matrices, and the axes over which their indices run. */
#pragma once

#include "base/groups.h"
#include "einsum/formula.h"
#include "einsum/sum.h"

enum { KS_GIVEN = (KS_SOURCES - 1) / 2, KS_AXIS_LABEL = 120, KS_DISTINCT_MOST = 5 };

/* A matrix as the caller named it */
typedef struct {
    const char *name;
    size_t trials, size[2];
} ks_given;

/* What the caller says of axes, by index names or by "rows", "cols" and "both"; NULL: nothing */
typedef struct {
    const char *center, *complete, *population, *same_cols;
    /* of the rows; NULL: none */
    const ks_groups *groups;
} ks_said;

/*
 * A matrix of the nets: one given with one trial, or the half 1 or 2 of one with several. Its axes are
 * numbers of ks_names.axis. given = ks_names.given: the matrix that has 1 where a row is in a group, else 0.
 */
typedef struct {
    int given, half, axis[2];
} ks_source;

typedef struct {
    int sources, axes, monomials;
    ks_source source[KS_SOURCES];
    ks_axis axis[KS_AXES];
    /* such as "rows of X and Y (i, j)"; and the name of its first index */
    char label[KS_AXES][KS_AXIS_LABEL], sides[KS_AXES][KS_AXIS_LABEL];
    ks_word letter[KS_AXES];
    int index_axis[KS_FORMULA_INDICES];
    /* where halves are used, each product stands twice: with the halves in either order */
    ks_monomial monomial[2 * KS_FORMULA_TERMS];
    int halves;
    /* how many matrices were given; the rows that come in groups, and their groups, the last axis, or 0 */
    int given, grouped, groups;
} ks_names;

kspec_status ks_names_resolve(const ks_formula *text, const ks_given *given, size_t count,
                              const ks_said *said, ks_names *out, kspec_error *err);

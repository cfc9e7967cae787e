/* Resolves the names of an expression to its matrices and to the axes over which their indices run. */
#pragma once

#include "base/groups.h"
#include "einsum/formula.h"
#include "einsum/sum.h"

enum { KS_GIVEN = (KS_SOURCES - 1) / 2, KS_AXIS_LABEL = 120, KS_DISTINCT_MOST = 5 };

/* Contains a matrix and the caller's name for the matrix. */
typedef struct {
    const char *name;
    size_t trials, size[2];
} ks_given;

/* The caller's settings for axes, by index names or by "rows", "cols" and "both". NULL means no setting. */
typedef struct {
    const char *center, *complete, *population, *same_cols;
    /* NULL: no groups */
    const ks_groups *groups;
} ks_said;

/*
 * A source is a matrix that the products read: a given matrix with one trial, or half 1 or 2 of a matrix with
 * several trials. `axis` contains numbers of ks_names.axis. If given = ks_names.given, the source is the
 * matrix of groups, whose entry is 1 if the row is in the group and 0 otherwise.
 */
typedef struct {
    int given, half, axis[2];
} ks_source;

typedef struct {
    int sources, axes, monomials;
    ks_source source[KS_SOURCES];
    ks_axis axis[KS_AXES];
    /*
     * label and sides name each axis in words, such as "rows of X and Y (i, j)". letter is the name of the
     * axis's first index.
     */
    char label[KS_AXES][KS_AXIS_LABEL], sides[KS_AXES][KS_AXIS_LABEL];
    ks_word letter[KS_AXES];
    int index_axis[KS_FORMULA_INDICES];
    /* If halves is 1, each product appears twice, with the halves in both orders. */
    ks_monomial monomial[2 * KS_FORMULA_TERMS];
    int halves;
    /*
     * given is the number of given matrices. grouped is the axis of rows in groups. groups is the axis of the
     * groups, which is the last axis, or 0.
     */
    int given, grouped, groups;
} ks_names;

kspec_status ks_names_resolve(const ks_formula *text, const ks_given *given, size_t count,
                              const ks_said *said, ks_names *out, kspec_error *err);

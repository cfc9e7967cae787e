/* Part of kspec.h: doubts, the library's verdicts on the quality of a result. */
#ifndef KSPEC_DOUBT_H
#define KSPEC_DOUBT_H
#include "kspec/base.h"

/* NOTE: worth knowing. WARNING: look at it before you use the numbers. SERIOUS: the numbers say little. */
typedef enum { KSPEC_SEVERITY_NOTE = 0, KSPEC_SEVERITY_WARNING, KSPEC_SEVERITY_SERIOUS } kspec_severity;

/* The kinds of doubts. kspec_doubt_text() gives the sentence. */
/* clang-format off */
typedef enum {
    KSPEC_DOUBT_GPU_UNUSED = 0, /* every call that can use a GPU */
    /* kspec_read() */
    KSPEC_DOUBT_INDEX_COLUMN, KSPEC_DOUBT_TIME_COLUMN, KSPEC_DOUBT_TRIAL_COLUMN, KSPEC_DOUBT_UNRELATED_TRIALS,
    KSPEC_DOUBT_EMPTY_ROWS, KSPEC_DOUBT_EMPTY_COLS, KSPEC_DOUBT_HEADER_ROW, KSPEC_DOUBT_DECIMAL_COMMA,
    /* for the data behind a dimension, moments, a spectrum or a comparison */
    KSPEC_DOUBT_FILL_VALUE, KSPEC_DOUBT_WILD_ENTRY, KSPEC_DOUBT_WILD_ENTRIES, KSPEC_DOUBT_WILD_ROW,
    KSPEC_DOUBT_WILD_COLUMN, KSPEC_DOUBT_LONG_TAIL, KSPEC_DOUBT_NEIGHBOURS_ALIKE, KSPEC_DOUBT_REPEATED_ROWS,
    KSPEC_DOUBT_REPEATED_COLS, KSPEC_DOUBT_NEAR_COPIES, KSPEC_DOUBT_SYMMETRIC, KSPEC_DOUBT_COPIED_TRIALS,
    /* for the dimension, in every result that has one */
    KSPEC_DOUBT_ONE_TRIAL, KSPEC_DOUBT_DIMENSION_BELOW_ONE, KSPEC_DOUBT_DIMENSION_ROUGH,
    KSPEC_DOUBT_DIMENSION_UNKNOWN, KSPEC_DOUBT_DIMENSION_UNDEFINED, KSPEC_DOUBT_NO_VARIATION,
    KSPEC_DOUBT_UNDERFLOW, KSPEC_DOUBT_UNEVEN_GROUPS, KSPEC_DOUBT_DOMINATED,
    /* kspec_compare() */
    KSPEC_DOUBT_ALIGNMENT_UNDEFINED, KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE, KSPEC_DOUBT_SHARED_COLS,
    /* kspec_moments() */
    KSPEC_DOUBT_MOMENT_UNDERFLOW, KSPEC_DOUBT_MOMENT_BELOW_BOUND, KSPEC_DOUBT_MOMENTS_UNKNOWN,
    KSPEC_DOUBT_ROUNDING, KSPEC_DOUBT_MEANS_DOMINATE,
    /* kspec_spectrum() */
    KSPEC_DOUBT_FIT_DISAGREES, KSPEC_DOUBT_NOISE_DISAGREES, KSPEC_DOUBT_LIST_CUT, KSPEC_DOUBT_NOTHING_SHARED,
    KSPEC_DOUBT_TRUTH_CENTER, KSPEC_DOUBT_LIST_DISAGREES, KSPEC_DOUBT_NO_EIGENVALUE, KSPEC_DOUBT_SHARED_NOISE,
    KSPEC_DOUBT_ALL_NOISE, KSPEC_DOUBT_UNEVEN_COLUMNS, KSPEC_DOUBT_SUM_UNKNOWN, KSPEC_DOUBT_NO_ERROR_BAR,
    KSPEC_DOUBT_ABOVE_SAMPLE, KSPEC_DOUBT_NO_MEASURE, KSPEC_DOUBT_NO_INTERVALS, KSPEC_DOUBT_ILL_CONDITIONED,
    /* kspec_norm(): `where` is the method; kspec_ridge_...(): the point */
    KSPEC_DOUBT_CONSTANT_COLUMNS, KSPEC_DOUBT_NEAR_FLOOR, KSPEC_DOUBT_DISAGREES, KSPEC_DOUBT_NOT_CONVERGED,
    KSPEC_DOUBT_TOLERANCE_MISSED, KSPEC_DOUBT_TOO_FEW_FEATURES,
    /* kspec_ridge_...() */
    KSPEC_DOUBT_SIGMA_SMALL, KSPEC_DOUBT_CONSTANT_TARGET, KSPEC_DOUBT_NO_LIMIT, KSPEC_DOUBT_DELTA_ROUNDING,
    KSPEC_DOUBT_SEARCH_END, KSPEC_DOUBT_TARGET_MEAN, KSPEC_DOUBT_WIDEST_COLUMN, KSPEC_DOUBT_NO_BETTER,
    KSPEC_DOUBT_DRAWS_DIFFER, KSPEC_DOUBT_UNCHECKED,
    /* kspec_wls_smooth() */
    KSPEC_DOUBT_REAL_DATA, KSPEC_DOUBT_EXTRAPOLATED, KSPEC_DOUBT_TOO_FEW_FUNCTIONS,
    KSPEC_DOUBT_RESIDUALS_CORRELATED,
    KSPEC_DOUBT_ESTIMATE_ROUNDING, /* kspec_unbiased() */
    KSPEC_DOUBT_LEFT_OUT           /* kspec_moments(), kspec_spectrum(), kspec_norm(), kspec_compare() */
} kspec_doubt_code;
/* clang-format on */

typedef struct {
    kspec_doubt_code code;
    kspec_severity severity;
    const char *where; /* the file, matrix or method concerned, or NULL; the sentence begins with it */
    const char *what;  /* a word in the sentence, or NULL */
    const char *option, *setting; /* the option that would help, and a value for it; or NULL */
    size_t count;                 /* the numbers concerned, and their names */
    const char *const *names;
    double values[4];
} kspec_doubt;

/* One sentence, cut to `size` bytes including the final zero; 512 bytes suffice for all. Returns text. */
KSPEC_API const char *kspec_doubt_text(const kspec_doubt *doubt, char *text, size_t size);
#endif

/* The table of all doubts that a result can contain, with the name, severity and sentence of each. */
#include "base/doubt.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/*
 * A sentence contains placeholders. {name} prints a number with four digits. {name:2} prints two digits, or
 * as many as tell it from the doubt's other numbers. {name:%} prints a percentage, and {what} the doubt's
 * word. Sentences are written in the plural, such as "{rows} rows are". For one row, the text says "1 row
 * is".
 */
typedef struct {
    kspec_severity severity;
    const char *name, *text, *names[4], *option, *setting;
} kind;

#define NOTE    KSPEC_SEVERITY_NOTE
#define WARNING KSPEC_SEVERITY_WARNING
#define SERIOUS KSPEC_SEVERITY_SERIOUS

/* clang-format off */
static const kind kinds[] = {
    [KSPEC_DOUBT_GPU_UNUSED] = {WARNING, "gpu-unused",
        "the GPU is not used: {what}"},

    [KSPEC_DOUBT_INDEX_COLUMN] = {WARNING, "index-column",
        "column {what}: it is probably not a feature; leave it out",
        {"column"}, "select_cols", "1-"},
    [KSPEC_DOUBT_TIME_COLUMN] = {WARNING, "time-column",
        "column {what} looks like a time index: intervals assume independent rows; leave it out, and give "
        "rows that depend on each other one label",
        {"column"}, "groups"},
    [KSPEC_DOUBT_TRIAL_COLUMN] = {WARNING, "trial-column",
        "column {what} looks like a trial index: intervals assume independent rows; leave it out, and give "
        "rows that depend on each other one label",
        {"column"}, "groups_column"},
    [KSPEC_DOUBT_UNRELATED_TRIALS] = {WARNING, "unrelated-trials",
        "{what} agree no more than chance (correlation {correlation:2}): several inputs mean repeats of the "
        "same rows and columns; two data sets are for kspec compare",
        {"correlation"}},
    [KSPEC_DOUBT_EMPTY_ROWS] = {WARNING, "empty-rows",
        "{rows} rows are without any value and left out; the first is row {first} (from 0)",
        {"rows", "first"}},
    [KSPEC_DOUBT_EMPTY_COLS] = {WARNING, "empty-cols",
        "{cols} columns are without any value and left out; the first is column {first} (from 0)",
        {"cols", "first"}},
    [KSPEC_DOUBT_HEADER_ROW] = {WARNING, "header-row",
        "row 0 counts from {from} to {to}: it is probably the header; leave it out",
        {"from", "to"}, "select_rows", "1-"},
    [KSPEC_DOUBT_DECIMAL_COMMA] = {SERIOUS, "decimal-comma",
        "commas separate the columns, and every second one has digits such as '05': if they are decimal "
        "commas, too, write points, or semicolons between columns"},

    [KSPEC_DOUBT_FILL_VALUE] = {SERIOUS, "fill-value",
        "{count} values are {value:7}, a usual mark of missing ones, far from the other values of the "
        "column; the first is in row {row}, column {column} (from 0)",
        {"count", "value", "row", "column"}, "fill"},
    [KSPEC_DOUBT_WILD_ENTRY] = {SERIOUS, "wild-entry",
        "row {row}, column {column} (from 0) is {value:7} and carries {share:%} of the {what}: correct it, "
        "or have it taken as missing",
        {"row", "column", "value", "share"}, "fill"},
    [KSPEC_DOUBT_WILD_ENTRIES] = {SERIOUS, "wild-entries",
        "{entries} entries are more than 10 times larger than all others and carry {share:%} of the {what}, "
        "the largest in row {row}, column {column} (from 0): correct them, or have them taken as missing",
        {"entries", "row", "column", "share"}, "fill"},
    [KSPEC_DOUBT_WILD_ROW] = {SERIOUS, "wild-row",
        "row {row} (from 0) carries {share:%} of the {what}: correct it, or leave it out",
        {"row", "share"}, "select_rows"},
    [KSPEC_DOUBT_WILD_COLUMN] = {WARNING, "wild-column",
        "column {column} (from 0) carries {share:%} of the {what} and decides the result; divide columns by "
        "their standard deviations to give all the same weight",
        {"column", "share"}, "standardize"},
    [KSPEC_DOUBT_LONG_TAIL] = {WARNING, "long-tail",
        "the {what} of columns have a tail so long that they may have no mean (exponent {exponent:2}): other "
        "columns may decide the result, and intervals cannot know of them; more columns help",
        {"exponent"}, "standardize"},
    [KSPEC_DOUBT_NEIGHBOURS_ALIKE] = {WARNING, "neighbours-alike",
        "{what} are alike (z = {z:2}): a time series, or a sorted table? In a series rows depend on each "
        "other, and need blocks; a sorted table needs nothing",
        {"lag", "z"}, "block", "auto"},
    [KSPEC_DOUBT_REPEATED_ROWS] = {WARNING, "repeated-rows",
        "{repeated} of {rows} rows equal an earlier one, the first row {row} that of row {earlier} (from 0): "
        "give repeats as trials, or one label",
        {"repeated", "rows", "row", "earlier"}, "groups"},
    [KSPEC_DOUBT_REPEATED_COLS] = {WARNING, "repeated-cols",
        "{repeated} of {cols} columns equal an earlier one, the first column {column} that of column "
        "{earlier} (from 0): leave them out, or give them one label",
        {"repeated", "cols", "column", "earlier"}, "col_groups"},
    [KSPEC_DOUBT_NEAR_COPIES] = {WARNING, "near-copies",
        "{share:%} of the rows are nearly copies of another, such as rows {row} and {other} (from 0): give "
        "repeats as trials, or one label",
        {"share", "row", "other"}, "groups"},
    [KSPEC_DOUBT_SYMMETRIC] = {SERIOUS, "symmetric",
        "the {rows} x {rows} matrix looks like {what}: rows must be inputs and columns features; give the "
        "data that it was made from",
        {"rows"}},
    [KSPEC_DOUBT_COPIED_TRIALS] = {SERIOUS, "copied-trials",
        "trials {trial} and {other} (from 0) are copies of each other: they remove no noise; give repeats of "
        "the measurement",
        {"trial", "other"}},

    [KSPEC_DOUBT_ONE_TRIAL] = {NOTE, "one-trial",
        "there is one trial: noise that is independent in every entry counts as dimensions; repeats of the "
        "same rows and columns would remove it"},
    [KSPEC_DOUBT_DIMENSION_BELOW_ONE] = {WARNING, "dimension-below-one",
        "dimension {dimension} is below 1, the least that a kernel has: the estimate is imprecise",
        {"dimension"}},
    [KSPEC_DOUBT_DIMENSION_ROUGH] = {NOTE, "dimension-rough",
        "the dimension is known in its order of magnitude only: it is uncertain by a factor of {factor:2} "
        "either way; more rows and columns help",
        {"factor"}},
    [KSPEC_DOUBT_DIMENSION_UNKNOWN] = {SERIOUS, "dimension-unknown",
        "the data hardly tell the dimension: it is uncertain by a factor of {factor:2} either way; more "
        "rows, columns or trials are needed",
        {"factor"}},
    [KSPEC_DOUBT_DIMENSION_UNDEFINED] = {SERIOUS, "dimension-undefined",
        "the dimension is undefined: the estimate of {what}, {estimate:3}, is not positive; more rows, "
        "columns or trials are needed",
        {"estimate"}},
    [KSPEC_DOUBT_NO_VARIATION] = {SERIOUS, "no-variation",
        "the dimension is undefined: {what}"},
    [KSPEC_DOUBT_UNDERFLOW] = {SERIOUS, "underflow",
        "the data are so small that their moments underflow to 0; scale them",
        {0}, "normalize"},
    [KSPEC_DOUBT_UNEVEN_GROUPS] = {WARNING, "uneven-groups",
        "groups of rows differ in size, and the column means, {mean_share:%} of m(1), add to the error of "
        "centred estimates; subtract them first",
        {"mean_share"}},
    [KSPEC_DOUBT_DOMINATED] = {WARNING, "dominated",
        "{what}, which is as uncertain as the mean of {degrees:2} values would be: the interval may still be "
        "too short",
        {"degrees", "part", "index"}},

    [KSPEC_DOUBT_ALIGNMENT_UNDEFINED] = {SERIOUS, "alignment-undefined",
        "the alignment is undefined: the estimate of m(2) of {what} is not positive"},
    [KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE] = {WARNING, "alignment-above-one",
        "alignment {alignment} is above 1, the most that two kernels have: do the matrices share columns, or "
        "are they too small?",
        {"alignment"}},
    [KSPEC_DOUBT_SHARED_COLS] = {WARNING, "shared-cols",
        "{shared} of {cols} columns are in both, the first as columns {column} and {other} (from 0): their "
        "noise counts as alignment",
        {"shared", "cols", "column", "other"}},

    [KSPEC_DOUBT_MOMENT_UNDERFLOW] = {WARNING, "moment-underflow",
        "m({order}) is below the smallest double, 2.2e-308: from there on roots are right, values and error "
        "bars are lost; scale the data",
        {"order"}, "normalize"},
    [KSPEC_DOUBT_MOMENT_BELOW_BOUND] = {SERIOUS, "moment-below-bound",
        "m({order}) = {moment:3} ({what}) is not above {bound:3}, the least that a kernel has: orders from "
        "{order} on say nothing; more rows, columns or trials are needed",
        {"order", "moment", "bound"}},
    [KSPEC_DOUBT_MOMENTS_UNKNOWN] = {NOTE, "moments-unknown",
        "moments of order {order} and above are not known at this size: their intervals reach 0",
        {"order"}},
    [KSPEC_DOUBT_ROUNDING] = {WARNING, "rounding",
        "exact: rounding may have moved m({order}) by {rounding:2}, more than a tenth of its {what}: the "
        "entries differ too widely; use path",
        {"order", "rounding"}, "estimator", "path"},
    [KSPEC_DOUBT_MEANS_DOMINATE] = {WARNING, "means-dominate",
        "the column means make up {mean_share:%} of m(1) and dominate the spectrum; centre the data to see "
        "what varies around them",
        {"mean_share"}, "center"},

    [KSPEC_DOUBT_TRUTH_CENTER] = {WARNING, "truth-center",
        "the truth and these eigenvalues ({what}) are centred differently: what the means add is in one of "
        "them alone",
        {0}, "center"},
    [KSPEC_DOUBT_ALL_NOISE] = {SERIOUS, "all-noise",
        "the matrix may be all noise: its columns vary together no more than chance (z = {z:2}); more rows, "
        "columns or trials are needed",
        {"z"}},
    [KSPEC_DOUBT_FIT_DISAGREES] = {WARNING, "fit-disagrees",
        "the fitted m({order}) = {fitted} and the unbiased one, {moment}, differ by {z:2} standard errors: "
        "all intervals are widened; {what}",
        {"order", "fitted", "moment", "z"}, "method", "moments"},
    [KSPEC_DOUBT_ABOVE_SAMPLE] = {WARNING, "above-sample",
        "the first eigenvalue, {eigenvalue}, is above the sample's own, {sample}, which is too large on "
        "average: all intervals are widened{what}",
        {"eigenvalue", "sample"}},
    [KSPEC_DOUBT_UNEVEN_COLUMNS] = {WARNING, "uneven-columns",
        "the columns' mean squares differ by more than the spectrum explains (relative variance {excess:2} "
        "too much): {what}",
        {"excess"}},
    [KSPEC_DOUBT_SHARED_NOISE] = {WARNING, "shared-noise",
        "the trials' noise is shared between columns (z = {z:2}), and eigenvalues may contain some of "
        "it{what}",
        {"z"}},
    [KSPEC_DOUBT_NOISE_DISAGREES] = {WARNING, "noise-disagrees",
        "noise {noise} is given, but the trials differ by noise of {of_trials}",
        {"noise", "of_trials"}, "noise"},
    [KSPEC_DOUBT_NO_MEASURE] = {WARNING, "no-measure",
        "no measure on {what} has these moments: m({order}) = {moment:6}, but {fitted:6} in the nearest one; "
        "a larger upper end or rank, a finer grid or other weights may help",
        {"order", "moment", "fitted", "distance"}, "upper"},
    [KSPEC_DOUBT_LIST_CUT] = {WARNING, "list-cut",
        "the list ends at the {listed}-th largest eigenvalue: it holds {share:3} of the sum of all, {sum}",
        {"listed", "share", "sum"}},
    [KSPEC_DOUBT_LIST_DISAGREES] = {WARNING, "list-disagrees",
        "the listed eigenvalues do not have the measure's moments: m({order}) = {moment} of the {listed} "
        "listed, {fitted} of all",
        {"order", "moment", "listed", "fitted"}},
    [KSPEC_DOUBT_SUM_UNKNOWN] = {SERIOUS, "sum-unknown",
        "m(1) = {moment} ± {stderr:2} is too uncertain: eigenvalues and their error bars mean little",
        {"moment", "stderr"}},
    [KSPEC_DOUBT_NO_EIGENVALUE] = {SERIOUS, "no-eigenvalue",
        "no eigenvalue is above zero: {what}",
        {"moment", "number", "grid_step", "upper"}, "upper"},
    [KSPEC_DOUBT_NO_ERROR_BAR] = {WARNING, "no-error-bar",
        "m({order}) has no error bar, so there are unit weights and no draws; try fewer moments",
        {"order"}},
    [KSPEC_DOUBT_NOTHING_SHARED] = {SERIOUS, "nothing-shared",
        "the first eigenvalue, {eigenvalue:3}, is not above zero by its interval: the trials may have "
        "nothing in common",
        {"eigenvalue"}},
    [KSPEC_DOUBT_NO_INTERVALS] = {WARNING, "no-intervals",
        "intervals are unknown, because they need at least 4 rows that are a sample"},
    [KSPEC_DOUBT_ILL_CONDITIONED] = {SERIOUS, "ill-conditioned",
        "{complex} of {rank} roots are complex, and errors of 1% in every moment move one by {condition:2} "
        "percent of the largest: Newton's identities are of no use for estimated moments; use another method",
        {"complex", "rank", "condition"}, "method", "moments"},

    [KSPEC_DOUBT_CONSTANT_COLUMNS] = {WARNING, "constant-columns",
        "constant columns, {constant} of {cols}, add nothing to any distance",
        {"constant", "cols"}},
    [KSPEC_DOUBT_NEAR_FLOOR] = {SERIOUS, "near-floor",
        "{norm} is near n/q = {floor}, its least possible value, and overestimates the norm; use more "
        "features or rff-debiased",
        {"norm", "floor"}},
    [KSPEC_DOUBT_DISAGREES] = {WARNING, "disagrees",
        "{norm} disagrees with the debiased estimate, {debiased}, from the same features; use more of them "
        "or rff-debiased",
        {"norm", "debiased"}},
    [KSPEC_DOUBT_NOT_CONVERGED] = {WARNING, "not-converged",
        "not converged after {steps} {what} (residual {residual:2})",
        {"steps", "residual"}},
    [KSPEC_DOUBT_TOLERANCE_MISSED] = {WARNING, "tolerance-missed",
        "at {features} features the interval is still wider than the tolerance",
        {"features"}, "tolerance"},
    [KSPEC_DOUBT_TOO_FEW_FEATURES] = {SERIOUS, "too-few-features",
        "{features} features of {rows} rows are too few for an estimate",
        {"features", "rows"}},

    [KSPEC_DOUBT_SIGMA_SMALL] = {WARNING, "sigma-small",
        "sigma = {sigma} is far below the median distance of two rows, {distance}: the kernel is nearly the "
        "identity and predicts nothing for new rows; take that distance",
        {"sigma", "distance"}, "sigma", "median"},
    [KSPEC_DOUBT_CONSTANT_TARGET] = {WARNING, "constant-target",
        "the target is the same for all {rows} rows",
        {"rows"}},
    [KSPEC_DOUBT_NO_LIMIT] = {SERIOUS, "no-limit",
        "at {what} = n = {rows} the test error has no limit",
        {"rows"}},
    [KSPEC_DOUBT_DELTA_ROUNDING] = {WARNING, "delta-rounding",
        "rounding limits delta to a relative error of {error:1}",
        {"error"}},
    [KSPEC_DOUBT_SEARCH_END] = {WARNING, "search-end",
        "the least test error lies at the {what} end of the search"},
    [KSPEC_DOUBT_TARGET_MEAN] = {WARNING, "target-mean",
        "the target's mean makes up {share:%} of its mean square, and the features must fit it; subtract it",
        {"share"}, "center_target"},
    [KSPEC_DOUBT_WIDEST_COLUMN] = {WARNING, "widest-column",
        "column {column} (from 0) holds {share:%} of the variance of all columns and decides every distance; "
        "standardize them",
        {"column", "share"}, "standardize"},
    [KSPEC_DOUBT_NO_BETTER] = {SERIOUS, "no-better",
        "the best predicted error, {best}, is not 2% below {mean}, that of predicting the mean: these "
        "columns say hardly anything about the target",
        {"best", "mean"}},

    [KSPEC_DOUBT_DRAWS_DIFFER] = {WARNING, "draws-differ",
        "the predicted {what} error is {ratio:3} times the mean of {draws} draws (standard error {error:%}), "
        "the largest of the differences above 10% at {points} points: use the measured errors",
        {"ratio", "draws", "error", "points"}},
    [KSPEC_DOUBT_UNCHECKED] = {WARNING, "unchecked",
        "{points} points are theory alone, which no draws have checked; for {small} of them lambda is so "
        "small that the theory may be tens of percent off",
        {"points", "small"}, "empirical"},

    [KSPEC_DOUBT_REAL_DATA] = {WARNING, "real-data",
        "the data are real, and the modes e^(ikx), k >= 0, cannot follow them: they leave an imaginary part; "
        "use a real basis"},
    [KSPEC_DOUBT_EXTRAPOLATED] = {WARNING, "extrapolated",
        "{count} points lie outside the data, where the curve is a guess; the first is x = {x}",
        {"count", "x"}},
    [KSPEC_DOUBT_TOO_FEW_FUNCTIONS] = {WARNING, "too-few-functions",
        "{functions} functions may be too few: the last of them stands above the noise; learn more",
        {"functions"}, "p"},
    [KSPEC_DOUBT_RESIDUALS_CORRELATED] = {WARNING, "residuals-correlated",
        "the residuals of neighbouring points are correlated ({correlation:2}): the curve misses a part of "
        "the signal, or the noise is not independent",
        {"correlation"}},

    [KSPEC_DOUBT_ESTIMATE_ROUNDING] = {WARNING, "estimate-rounding",
        "rounding may have moved the value by {rounding:2}, more than a tenth of its {what}: terms of the "
        "expression nearly cancel; centre axes whose mean is large",
        {"rounding"}, "center"},

    [KSPEC_DOUBT_LEFT_OUT] = {NOTE, "left-out",
        "left out to save time: {what}"},
};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- list ---- */

static const char *copy(ks_arena *a, const char *text) {
    char *to = text ? ks_arena_alloc(a, strlen(text) + 1, 1) : NULL;
    return to ? strcpy(to, text) : NULL;
}

void ks_doubt_add(ks_doubts to, kspec_doubt_code code, const char *where, const char *what,
                  const double *values) {
    enum { STEP = 8 };
    const kind *k = &kinds[code];
    kspec_doubt *d = ks_arena_zalloc(to.arena, 1, sizeof *d);
    size_t n = *to.count;
    kspec_doubt **list = n % STEP == 0 ? ks_arena_alloc(to.arena, n + STEP, sizeof *list) : *to.list;
    where = copy(to.arena, where), what = copy(to.arena, what);
    if (to.arena->failed) return;
    if (n && list != *to.list) memcpy((void *)list, (const void *)*to.list, n * sizeof *list);
    *d = (kspec_doubt){.code = code,
                       .severity = k->severity,
                       .where = where,
                       .what = what,
                       .option = k->option,
                       .setting = k->setting,
                       .names = k->names};
    while (d->count < sizeof k->names / sizeof *k->names && k->names[d->count]) {
        d->values[d->count] = values[d->count];
        d->count++;
    }
    list[n] = d;
    *to.list = list;
    *to.count = n + 1;
}

static kspec_doubt *last_of(ks_doubts to) {
    return to.arena->failed || !*to.count ? NULL : (*to.list)[*to.count - 1];
}

void ks_doubt_lower(ks_doubts to) {
    kspec_doubt *d = last_of(to);
    if (d) d->severity = NOTE;
}

void ks_doubt_set(ks_doubts to, const char *setting) {
    kspec_doubt *d = last_of(to);
    const char *own = d ? copy(to.arena, setting) : NULL;
    if (own) d->setting = own;
}

void ks_doubt_left_out(ks_doubts to, const char *what, const char *option, const char *setting) {
    ks_doubt(to, KSPEC_DOUBT_LEFT_OUT, NULL, what, 0);
    if (setting) ks_doubt_set(to, setting);
    const char *own = copy(to.arena, option);
    if (own && last_of(to)) last_of(to)->option = own;
}

void ks_doubt_copy(ks_doubts to, const kspec_doubt *d) {
    ks_doubt_add(to, d->code, d->where, d->what, d->values);
    if (d->setting) ks_doubt_set(to, d->setting);
    const char *option = copy(to.arena, d->option);
    if (last_of(to)) last_of(to)->severity = d->severity, last_of(to)->option = option;
}

/* ---- sentence ---- */

const char *ks_doubt_name(kspec_doubt_code code) { return (size_t)code < KINDS ? kinds[code].name : NULL; }

typedef struct {
    char *at;
    size_t left;
} sink;

static void put(sink *to, const char *text, size_t n) {
    if (n >= to->left) n = to->left - 1;
    memcpy(to->at, text, n);
    to->at += n, to->left -= n;
}

/* Would another number of the doubt look the same with so many digits? */
static int alike(const kspec_doubt *d, double v, int digits) {
    char text[40], other[40];
    int same = 0;
    ks_print(text, sizeof text, "%.*g", digits, v);
    for (size_t k = 0; k < d->count; k++) {
        ks_print(other, sizeof other, "%.*g", digits, d->values[k]);
        same |= d->values[k] != v && strcmp(text, other) == 0;
    }
    return same;
}

/* Prints a percentage. The text is 100% only if the fraction is exactly 1. */
static void put_share(char *text, size_t size, double v) {
    int digits = v < 0.01 && v > 0 ? 2 : 0;
    ks_print(text, size, "%.*f%%", digits, 100 * v);
    while (v < 1 && digits < 4 && strncmp(text, "100", 3) == 0)
        ks_print(text, size, "%.*f%%", ++digits, 100 * v);
    if (v < 1 && strncmp(text, "100", 3) == 0) ks_print(text, size, "nearly all");
}

/* Prints the value of {name}, {name:2} or {name:%}. */
static void put_value(sink *to, const kspec_doubt *d, const char *field, size_t length) {
    size_t name = strcspn(field, ":}");
    const char how = name < length ? field[name + 1] : '4';
    char text[40];
    if (strncmp(field, "what}", 5) == 0) {
        if (d->what) put(to, d->what, strlen(d->what));
        return;
    }
    for (size_t k = 0; k < d->count; k++) {
        if (strlen(d->names[k]) != name || strncmp(d->names[k], field, name) != 0) continue;
        double v = d->values[k];
        int digits = how - '0';
        while (how != '%' && digits < 17 && alike(d, v, digits)) digits++;
        if (how == '%')
            put_share(text, sizeof text, v);
        else if (v == floor(v) && fabs(v) < 1e15)
            ks_print(text, sizeof text, "%.0f", v);
        else
            ks_print(text, sizeof text, "%.*g", digits, v);
        put(to, text, strlen(text));
    }
}

const char *kspec_doubt_text(const kspec_doubt *doubt, char *text, size_t size) {
    sink to = {text, size};
    if (!size) return text;
    const char *p = doubt && ks_doubt_name(doubt->code) ? kinds[doubt->code].text : "";
    if (*p && doubt->where) {
        put(&to, doubt->where, strlen(doubt->where));
        put(&to, ": ", 2);
    }
    while (*p) {
        size_t n = strcspn(p, "{");
        put(&to, p, n);
        p += n;
        if (!*p) break;
        n = strcspn(p, "}");
        put_value(&to, doubt, p + 1, n - 1);
        p += n + 1;
    }
    *to.at = 0;
    ks_polish(text);
    return text;
}

/*
 * Unbiased estimates of products of entries, against sums over all tuples in integers: every connected
 * expression of one matrix with up to 3 row and 3 column indices and 6 entries, and sampled ones of two
 * matrices. The estimates without each index equal the same sums over the matrices without it.
 */
#include "test.h"

#include "kspec.h"
#include "oracle/einsum.h"

enum { FORMS = 136, CENTRED = 68, PAIRS = 300, TEXT = 200 };

static const size_t ROWS = 6, COLS = 5, OTHER = 4;
/* centring gives six entries six rows, and one is left out; the sample is from populations of these sizes */
static const size_t CENTRED_SIZE[3] = {7, 4, 3};
static const int POPULATION[3] = {9, 8, 8};

/* ---- data ---- */

static uint64_t state = 1;
static int draw(int below) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

typedef struct {
    int entry[2][2][EIN_SIZE * EIN_SIZE]; /* of X and Y, two trials each */
    double as_double[2][2][EIN_SIZE * EIN_SIZE];
} numbers;

static void fill(numbers *n) {
    for (int m = 0; m < 2; m++)
        for (int t = 0; t < 2; t++)
            for (int k = 0; k < EIN_SIZE * EIN_SIZE; k++)
                n->as_double[m][t][k] = n->entry[m][t][k] = draw(6) - 2;
}

/* ---- both answers ---- */

typedef struct {
    const ein_form *form;
    const numbers *n;
    int trials;
    size_t size[3];
    const char *center, *complete, *population; /* of POPULATION */
    int skip_axis;
    size_t skip;
    const uint64_t *groups; /* of the rows; skip then is the first row of one */
} question;

/* The matrices of a question without what it leaves out */
typedef struct {
    int entry[2][2][EIN_SIZE * EIN_SIZE];
    double as_double[2][2][EIN_SIZE * EIN_SIZE];
    size_t size[3];
    uint64_t label[EIN_SIZE];
} rest;

static void leave_out(const question *q, rest *to) {
    int kept[EIN_SIZE];
    memcpy(to->size, q->size, sizeof to->size);
    if (q->skip_axis > 0) to->size[q->skip_axis]--;
    to->size[0] = 0;
    for (size_t i = 0; i < q->size[0]; i++) {
        kept[i] = q->skip_axis != 0 || (q->groups ? q->groups[i] != q->groups[q->skip] : i != q->skip);
        if (kept[i]) to->label[to->size[0]++] = q->groups ? q->groups[i] : i;
    }
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++)
            for (size_t i = 0, n = 0; i < q->size[0]; i++)
                for (size_t a = 0; a < q->size[1 + k]; a++) {
                    if (!kept[i] || (q->skip_axis == 1 + k && a == q->skip)) continue;
                    to->entry[k][t][n] = q->n->entry[k][t][i * q->size[1 + k] + a];
                    to->as_double[k][t][n] = to->entry[k][t][n];
                    n++;
                }
}

/* The library's answer, or NULL; must: a refusal is a failure. */
static kspec_unbiased_result *ask(const question *q, int must) {
    char text[TEXT];
    kspec_matrix m[2][2];
    rest of;
    leave_out(q, &of);
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++)
            m[k][t] =
                (kspec_matrix){of.as_double[k][t], of.size[0], of.size[1 + k], (ptrdiff_t)of.size[1 + k], 1};
    const kspec_operand operands[2] = {{"X", m[0], (size_t)q->trials}, {"Y", m[1], (size_t)q->trials}};
    const kspec_unbiased_opts opts = {.size = sizeof opts,
                                      .center = q->center,
                                      .complete = q->complete,
                                      .population = q->population,
                                      .row_groups = q->groups ? of.label : NULL,
                                      .row_group_count = of.size[0],
                                      .threads = 1};
    kspec_unbiased_result *r = NULL;
    kspec_error err;
    if (kspec_unbiased(ein_text(q->form, q->trials > 1, text, sizeof text), operands, 2, &opts, &r, &err))
        CHECK_MSG(!must, "%s: %s", text, err.msg);
    return r;
}

/* The answer by definition */
static double answer(const question *q) {
    rest of;
    leave_out(q, &of);
    ein_data d = {.size = {(int)of.size[0], (int)of.size[1], (int)of.size[2]},
                  .group = q->groups ? of.label : NULL};
    if (q->complete) d.complete[1] = d.complete[2] = 1;
    if (q->population) memcpy(d.population, POPULATION, sizeof d.population);
    double sum = 0;
    for (int order = 0; order < q->trials; order++) { /* halves in both orders */
        for (int k = 0; k < q->form->factors; k++)
            d.data[k] = of.entry[q->form->matrix[k]][q->trials > 1 ? (k + order) & 1 : 0];
        sum += (q->center ? ein_centred(q->form, &d) : ein_mean(q->form, &d)) / q->trials;
    }
    return sum;
}

/* Estimates compared, estimates without an index compared, and expressions for which none was compared */
static struct { int values, without, bare; } count;

/* Compares the estimate, and each without an index. Returns 1 if there was something to compare. */
static int compare(question q, int must) {
    char text[TEXT];
    q.skip_axis = -1;
    kspec_unbiased_result *r = ask(&q, must);
    if (!r) return 0;
    const double want = answer(&q), unit = fmax(1, fabs(want)) + 1e3 * r->rounding;
    const int before = count.without;
    ein_text(q.form, q.trials > 1, text, sizeof text);
    CHECK_MSG(fabs(r->value - want) <= 1e-11 * unit, "%s: %.17g != %.17g", text, r->value, want);
    for (size_t x = 0; x < r->axis_count; x++) {
        const kspec_unbiased_axis *a = r->axes[x];
        if (!a->without) continue;
        q.skip_axis = strstr(a->sides, "rows") ? 0 : strstr(a->sides, "X:cols") ? 1 : 2;
        const uint64_t *label = q.skip_axis ? NULL : q.groups;
        size_t left_out = 0;
        for (q.skip = 0; q.skip < a->size; q.skip++) {
            int seen = 0;
            for (size_t i = 0; i < q.skip && label; i++) seen |= label[i] == label[q.skip];
            if (seen) continue; /* with its group */
            const double less = answer(&q), got = a->without[left_out++];
            CHECK_MSG(fabs(got - less) <= 1e-10 * (unit + fabs(less)),
                      "%s without %zu of the %s: %.17g != %.17g", text, q.skip, a->name, got, less);
            count.without++;
        }
        CHECK(left_out == (label ? a->groups : a->size));
    }
    count.values++, count.bare += count.without == before;
    kspec_free(r);
    return 1;
}

/* ---- all expressions of one matrix ---- */

static ein_form forms[FORMS + 1];
static numbers data;

/* The mean over all samples of 4 of 5 rows is the mean over all tuples of the 5, coincidences and all. */
static void population(const ein_form *f) {
    char text[TEXT];
    question q = {f, &data, 1, {5, COLS, OTHER}, NULL, NULL, "i=5", 0, 0, NULL};
    double mean = 0;
    for (q.skip = 0; q.skip < 5; q.skip++) {
        kspec_unbiased_result *r = ask(&q, 1);
        mean += r ? r->value / 5 : NAN;
        kspec_free(r);
    }
    ein_data d = {.size = {5, (int)COLS, (int)OTHER}, .complete = {1, 0, 0}};
    for (int k = 0; k < f->factors; k++) d.data[k] = data.entry[0][0];
    const double want = ein_mean(f, &d);
    CHECK_MSG(fabs(mean - want) <= 1e-11 * (1 + fabs(want)), "%s: %.17g != %.17g",
              ein_text(f, 0, text, sizeof text), mean, want);
}

TEST(every_small_expression_of_one_matrix) {
    int plain = 0, centred = 0, complete = 0, drawn = 0, trials = 0;
    memset(&count, 0, sizeof count);
    fill(&data);
    CHECK(ein_all(forms, FORMS + 1) == FORMS);
    for (int k = 0; k < FORMS; k++) {
        const ein_form *f = &forms[k];
        const question q = {f, &data, 1, {ROWS, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL};
        question other = q;
        plain += compare(q, 1);
        other.complete = "cols";
        complete += compare(other, 1);
        other.complete = NULL, other.population = "rows=9,cols=8";
        drawn += compare(other, 1);
        population(f);
        other = q;
        other.trials = 2;
        if (f->factors > 1) trials += compare(other, 1); /* X1 alone would be one trial */
        other = q;
        memcpy(other.size, CENTRED_SIZE, sizeof other.size);
        other.center = "rows";
        if (ein_can_centre(f)) centred += compare(other, 1);
    }
    CHECK_MSG(plain == FORMS && complete == FORMS && drawn == FORMS, "%d %d %d", plain, complete, drawn);
    CHECK_MSG(trials == FORMS - 1 && centred == CENTRED && !count.bare, "%d %d %d", trials, centred,
              count.bare);
    printf(
        "one matrix: %d expressions (plain, complete and population %d each, trials %d, centred %d) and %d "
        "estimates without an index\n",
        count.values, plain, trials, centred, count.without);
}

/* ---- rows in groups ---- */

/* 5 groups of 7 rows; and 6, since five rows of a centred product differ, and a group is left out */
TEST(rows_in_groups) {
    static const uint64_t few[EIN_SIZE] = {3, 8, 3, 1, 8, 4, 6}, many[EIN_SIZE] = {3, 8, 3, 1, 4, 6, 2};
    int plain = 0, complete = 0, trials = 0, centred = 0, refused = 0;
    state = 11;
    memset(&count, 0, sizeof count);
    fill(&data);
    for (int k = 0; k < FORMS; k++) {
        const ein_form *f = &forms[k];
        question q = {f, &data, 1, {7, COLS, OTHER}, NULL, NULL, NULL, -1, 0, few}, other = q;
        plain += compare(q, 1);
        other.complete = "cols";
        complete += compare(other, 1);
        other = q;
        other.trials = 2;
        if (f->factors > 1) trials += compare(other, 1);
        if (!ein_can_centre(f)) continue;
        other = q;
        memcpy(other.size, CENTRED_SIZE, sizeof other.size);
        other.center = "rows", other.groups = many;
        /* six entries and their six rows are more than a graph can hold */
        if (f->factors <= 5)
            centred += compare(other, 1);
        else
            refused += !compare(other, 0);
    }
    CHECK_MSG(plain == FORMS && complete == FORMS && trials == FORMS - 1 && !count.bare, "%d %d %d %d", plain,
              complete, trials, count.bare);
    CHECK_MSG(centred + refused == CENTRED && centred > 20, "%d centred, %d refused", centred, refused);
    printf(
        "groups: %d expressions (plain and complete %d each, trials %d, centred %d) and %d estimates without "
        "an index or a group\n",
        count.values, plain, trials, centred, count.without);
}

/* ---- sampled expressions of two matrices ---- */

static int connected(const ein_form *f) {
    unsigned seen = 1, before;
    do {
        before = seen;
        for (int k = 0; k < f->factors; k++)
            for (int l = 0; l < f->factors; l++)
                if (seen >> k & 1 &&
                    (f->row[k] == f->row[l] || (f->matrix[k] == f->matrix[l] && f->col[k] == f->col[l])))
                    seen |= 1u << l;
    } while (seen != before);
    return seen == (1u << f->factors) - 1;
}

/* Names in the order in which they appear; how many there are on each axis */
static void rename_indices(ein_form *f) {
    int to[3][8], used[3] = {0};
    memset(to, -1, sizeof to);
    for (int k = 0; k < f->factors; k++) {
        int *row = &to[0][f->row[k]], *col = &to[ein_axis(f, k)][f->col[k]];
        if (*row < 0) *row = used[0]++;
        if (*col < 0) *col = used[ein_axis(f, k)]++;
        f->row[k] = *row, f->col[k] = *col;
    }
    memcpy(f->indices, used, sizeof used);
}

TEST(sampled_expressions_of_two_matrices) {
    static const uint64_t groups[EIN_SIZE] = {3, 8, 3, 1, 8, 4, 6};
    int done = 0, centred = 0, grouped = 0, drawn = 0, tried = 0;
    state = 7;
    memset(&count, 0, sizeof count);
    fill(&data);
    for (; done < PAIRS && tried < 100000; tried++) {
        ein_form f = {.factors = 2 + draw(EIN_FACTORS - 1)};
        int both = 0;
        for (int k = 0; k < f.factors; k++) {
            f.matrix[k] = draw(2), f.row[k] = draw(3), f.col[k] = draw(2);
            both |= 1 << f.matrix[k];
        }
        if (both != 3 || !connected(&f)) continue;
        rename_indices(&f);
        question q = {&f, &data, 1 + (done % 3 == 2), {ROWS, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL};
        if (done % 5 == 3) q.complete = "cols";
        if (ein_can_centre(&f) && done % 2) {
            q.center = "rows", centred++;
            memcpy(q.size, CENTRED_SIZE, sizeof q.size);
        } else if (done % 7 < 2) {
            q.size[0] = 7, q.groups = groups, grouped++;
        } else if (done % 7 < 4 && !q.complete) {
            q.population = "rows=9,cols=8", drawn++;
        }
        done += compare(q, 1);
    }
    CHECK_MSG(done == PAIRS && centred > 30 && grouped > 30 && drawn > 30, "%d: %d, %d, %d", done, centred,
              grouped, drawn);
    CHECK_MSG(!count.bare, "%d without error bars", count.bare);
    printf("two matrices: %d expressions (%d centred, %d with groups, %d from populations) and %d estimates "
           "without an index\n",
           done, centred, grouped, drawn, count.without);
}

/* ---- more than matrix products ---- */

/* Three rows and three columns, each joined to each but for the last with the last; K(3,3) has it, too */
static const ein_form wide[] = {
    {8, {0}, {0, 0, 0, 1, 1, 1, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1}, {3, 3, 0}},
    {9, {0}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {3, 3, 0}},
    {10, {0}, {0, 0, 0, 1, 1, 1, 2, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 2}, {3, 3, 0}},
    {9, {0, 0, 1, 0, 0, 1, 0, 0, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 0, 0, 1, 0, 0, 1, 0}, {3, 2, 1}},
    {10,
     {0, 0, 1, 0, 0, 1, 0, 0, 1, 1},
     {0, 0, 0, 1, 1, 1, 2, 2, 2, 1},
     {0, 1, 0, 0, 1, 0, 0, 1, 0, 1},
     {3, 2, 2}},
};

TEST(slices_do_what_needs_more_than_products) {
    int done = 0;
    state = 5;
    fill(&data);
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
        question q = {&wide[k], &data, 1, {5, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL}, other = q;
        char text[TEXT];
        done += compare(q, 1);
        other.complete = "cols";
        done += compare(other, 1);
        other = q;
        other.trials = 2;
        done += compare(other, 1);
        const kspec_matrix x = {data.as_double[0][0], 5, COLS, (ptrdiff_t)COLS, 1},
                           y = {data.as_double[1][0], 5, OTHER, (ptrdiff_t)OTHER, 1};
        const kspec_operand of[2] = {{"X", &x, 1}, {"Y", &y, 1}};
        const kspec_unbiased_opts o = {.size = sizeof o, .explain = 1};
        kspec_unbiased_result *r = NULL;
        CHECK(!kspec_unbiased(ein_text(&wide[k], 0, text, sizeof text), of, 2, &o, &r, NULL));
        CHECK_MSG(r && strstr(r->plan, "of slices"), "%s", r ? r->plan : text);
        kspec_free(r);
    }
    CHECK_MSG(done == 15, "%d", done);
}

/* Five indices, each joined to each: one fixed is not enough. And a matrix that is too large for slices */
TEST(what_slices_cannot_do_is_refused) {
    static const char *const text[] = {
        "X[i,j] X[i,k] X[i,l] X[i,m] X[j,k] X[j,l] X[j,m] X[k,l] X[k,m] X[l,m]",
        "X[i,a] X[i,b] X[i,c] X[j,a] X[j,b] X[j,c] X[k,a] X[k,b] X[k,c]"};
    static const char *const want[] = {"above three): 5 of the rows and columns of X",
                                       "use fewer rows or columns"};
    static const double entry = 1;
    for (int k = 0; k < 2; k++) {
        const size_t size = k ? 3000 : 9;
        const kspec_matrix x = {&entry, size, size, 0, 0};
        kspec_unbiased_result *r = NULL;
        kspec_error err = {0};
        const kspec_unbiased_opts o = {.size = sizeof o};
        CHECK(kspec_unbiased(text[k], &(kspec_operand){"X", &x, 1}, 1, &o, &r, &err) == KSPEC_E_ARG);
        CHECK_MSG(strstr(err.msg, want[k]), "%s", err.msg);
    }
}

int main(void) {
    RUN(every_small_expression_of_one_matrix);
    RUN(rows_in_groups);
    RUN(sampled_expressions_of_two_matrices);
    RUN(slices_do_what_needs_more_than_products);
    RUN(what_slices_cannot_do_is_refused);
    return test_done();
}

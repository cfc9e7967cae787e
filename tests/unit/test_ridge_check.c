/* Draws that check predictions: the same as kspec_ridge_empirical()'s, as many as the work allows, doubts. */
#include "help/bed.h"
#include "help/ridge.h"

enum { ROWS = 60, TESTS = 30, DRAWS = 8, N_COUNT = 3, L_COUNT = 2 };

static const size_t features[N_COUNT] = {10, 28, 90};
static const double lambda[L_COUNT] = {1, 1e-5};

static kspec_error e;

/* Predictions that so many draws check, with so much work */
static kspec_ridge_result *checked(const problem *q, size_t count, size_t draws, double work,
                                   kspec_ridge **plan) {
    const kspec_ridge_opts o = {.size = sizeof o, .seed = 3, .check_draws = draws, .check_work = work};
    kspec_ridge_result *out = NULL;
    *plan = open_problem(q, &o);
    CHECK_MSG(kspec_ridge_predict(*plan, features, N_COUNT, lambda, count, &out, &e) == KSPEC_OK, "%s",
              e.msg);
    return out;
}

static const kspec_doubt *doubt_of(const kspec_ridge_result *r, kspec_doubt_code code) {
    for (size_t k = 0; k < r->doubt_count; k++)
        if (r->doubts[k]->code == code) return r->doubts[k];
    return NULL;
}

TEST(draws_are_those_of_the_measurement) {
    problem q = make_problem(33, ROWS, TESTS, 5);
    kspec_ridge *r;
    kspec_ridge_result *out = checked(&q, L_COUNT, DRAWS, INFINITY, &r);
    CHECK(out->draws == DRAWS && !doubt_of(out, KSPEC_DOUBT_UNCHECKED));
    double worst = 0;
    size_t far = 0;
    for (size_t n = 0; n < N_COUNT; n++) {
        kspec_ridge_measured m[L_COUNT];
        measure(r, features[n], lambda, L_COUNT, DRAWS, m);
        for (size_t l = 0; l < L_COUNT; l++) {
            const kspec_ridge_point *p = out->points[n * L_COUNT + l];
            if (!p->measured) continue;
            CHECK(memcmp(p->measured, &m[l], sizeof m[l]) == 0);
            const double ratio = p->test_mse / m[l].test_mse;
            far += fabs(ratio - 1) > 0.1;
            if (fabs(log(ratio)) > fabs(log(worst)) || worst == 0) worst = ratio;
        }
    }
    /* near 2N = n with a small lambda the theory of 60 rows is far from their draws */
    const kspec_doubt *d = doubt_of(out, KSPEC_DOUBT_DRAWS_DIFFER);
    CHECK(far > 0 && d && d->severity == KSPEC_SEVERITY_WARNING && strcmp(d->what, "test") == 0);
    if (d) CHECK(d->values[0] == worst && d->values[1] == DRAWS && d->values[3] == (double)far);
    kspec_free(out);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Only the draws of one N fit into the work: those of the smallest lambda n/N, which is the largest N */
/* Only the draws of one N fit into the work: those of the smallest lambda n/N, which is the largest N */
TEST(the_smallest_lambda_comes_first) {
    problem q = make_problem(33, ROWS, TESTS, 5);
    kspec_ridge *r;
    kspec_ridge_result *out = checked(&q, L_COUNT, 0, 0, &r);
    const double all = DRAWS * (kspec_ridge_cost(r, features[2]) + pow(ROWS, 3) / 6);
    const kspec_doubt *d = doubt_of(out, KSPEC_DOUBT_UNCHECKED); /* theory alone says so */
    CHECK(out->draws == 0 && d && d->severity == KSPEC_SEVERITY_WARNING && d->values[0] == 6);
    kspec_free(out);
    kspec_ridge_close(r);

    out = checked(&q, L_COUNT, DRAWS, all * 1.001, &r);
    for (size_t k = 0; k < out->count; k++)
        CHECK((out->points[k]->measured != NULL) == (out->points[k]->N == features[2]));
    d = doubt_of(out, KSPEC_DOUBT_UNCHECKED);
    CHECK(d && d->severity == KSPEC_SEVERITY_WARNING && d->values[0] == 4 && d->values[1] == 2);
    kspec_free(out);
    kspec_ridge_close(r);

    /* a lambda that is not small is noted, not warned of */
    out = checked(&q, 1, 0, 0, &r);
    d = doubt_of(out, KSPEC_DOUBT_UNCHECKED);
    CHECK(d && d->severity == KSPEC_SEVERITY_NOTE && d->values[0] == 3);
    CHECK(!doubt_of(out, KSPEC_DOUBT_DRAWS_DIFFER));
    kspec_free(out);
    kspec_ridge_close(r);
    free_problem(&q);
}

TEST(refusals) {
    problem q = make_problem(33, ROWS, TESTS, 5);
    const kspec_matrix x = view(q.X, q.n, q.p), y = view(q.y, q.n, 1);
    for (int k = 0; k < 2; k++) {
        kspec_ridge_opts o = {.size = sizeof o, .check_draws = 8, .check_work = k ? NAN : -1};
        kspec_ridge *r = (kspec_ridge *)(uintptr_t)1;
        CHECK_FAILS(kspec_ridge_open(&x, &y, NULL, NULL, &o, &r, &e), KSPEC_E_ARG, e,
                    k ? "check_work nan is not 0 or above" : "check_work -1 is not 0 or above");
        CHECK(r == NULL);
    }
    free_problem(&q);
}

int main(void) {
    RUN(draws_are_those_of_the_measurement);
    RUN(the_smallest_lambda_comes_first);
    RUN(refusals);
    return test_done();
}

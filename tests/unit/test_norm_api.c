/* What surrounds the methods of kspec_norm(): bandwidths, cancellation, bad input. */
#include "help/norm.h"

/*
 * sigma is 1 unless given; median_sigma takes the median distance in norm, features and Gram matrices alike
 */
TEST(bandwidth) {
    enum { N = 40, P = 3 };
    double *x = normals(13, N, P), Z[2][N * 256], K[2][N * N];
    kspec_matrix m = view(x, N, P);
    kspec_norm_result *r;
    CHECK(kspec_norm(&m, NULL, &r, NULL) == KSPEC_OK);
    CHECK(r->sigma == 1 && r->gamma == 0.5 && r->count == 1);
    CHECK(r->entries[0]->method == KSPEC_NORM_METHOD_LANCZOS && r->entries[0]->draw_count == 1);
    CHECK(r->entries[0]->draws[0]->value == r->entries[0]->value);
    kspec_free(r);
    for (int kernel = 0; kernel < 3; kernel++) {
        kspec_norm_opts k = {.size = sizeof k, .kernel = (kspec_kernel)kernel, .median_sigma = 1};
        kspec_norm_opts o = {.size = sizeof o, .kernel = k.kernel, .median_sigma = 1};
        CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK && r->sigma > 1.5);
        CHECK(kspec_features(&m, &k, Z[0], NULL) == KSPEC_OK && kspec_gram(&m, &k, K[0], NULL) == KSPEC_OK);
        k.sigma = r->sigma, k.median_sigma = 0;
        CHECK(kspec_features(&m, &k, Z[1], NULL) == KSPEC_OK && kspec_gram(&m, &k, K[1], NULL) == KSPEC_OK);
        CHECK(memcmp(Z[0], Z[1], sizeof *Z) == 0 && memcmp(K[0], K[1], sizeof *K) == 0);
        o.gamma = r->gamma, o.median_sigma = 0; /* the same in other words */
        double value = r->entries[0]->value;
        kspec_free(r);
        CHECK(kspec_norm(&m, &o, &r, NULL) == KSPEC_OK);
        CHECK_CLOSE(r->entries[0]->value, value, 1e-12);
        kspec_free(r);
    }
    free(x);
}

static int stop_after(void *ctx, double fraction) {
    int *left = ctx;
    CHECK(fraction >= 0 && fraction <= 1);
    return (*left)-- <= 0;
}

TEST(cancellation) {
    double *x = normals(12, 600, 3);
    kspec_matrix m = view(x, 600, 3);
    kspec_error e;
    kspec_norm_result *r;
    int cancelled = 0;
    for (int k = 0; k < 5000; k += k / 4 + 1) {
        int left = k;
        kspec_norm_opts o = {.size = sizeof o,
                             .methods = ALL & ~KSPEC_NORM_METHOD_EIGEN,
                             .sigma = 1,
                             .features = 20,
                             .threads = 2,
                             .progress = {stop_after, &left}};
        kspec_status st = kspec_norm(&m, &o, &r, &e);
        if (st == KSPEC_OK) break;
        CHECK(st == KSPEC_E_CANCELLED && r == NULL);
        cancelled++;
    }
    CHECK(cancelled > 5);
    kspec_free(r);
    free(x);
}

TEST(bad_input) {
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    kspec_matrix m = view(x, 6, 2), one = view(x, 1, 2);
    kspec_error e;
    kspec_norm_result *r;
    const size_t size = sizeof(kspec_norm_opts);
#define FAILS(text, ...)                                                 \
    do {                                                                 \
        kspec_norm_opts bad = {size, __VA_ARGS__};                       \
        CHECK_FAILS(kspec_norm(&m, &bad, &r, &e), KSPEC_E_ARG, e, text); \
        CHECK(r == NULL);                                                \
    } while (0)
    FAILS("sigma -1", .sigma = -1);
    FAILS("sigma nan", .sigma = NAN);
    FAILS("gamma -2", .gamma = -2);
    FAILS("sigma 1 and gamma 2: give only one", .sigma = 1, .gamma = 2);
    FAILS("sigma 3 and median_sigma: give only one", .sigma = 3, .median_sigma = 1);
    FAILS("gamma 2 and median_sigma: give only one", .gamma = 2, .median_sigma = 1);
    FAILS("unknown method 0x100", .methods = 1u << 8);
    FAILS("unknown kernel 4", .kernel = (kspec_kernel)4);
    FAILS("unknown scaling 5", .scaling = (kspec_scaling)5);
    FAILS("nu -1 is not above 0", .kernel = KSPEC_KERNEL_MATERN, .nu = -1);
    FAILS("nu nan is not above 0", .kernel = KSPEC_KERNEL_MATERN, .nu = NAN);
    FAILS("nu 200000 is not above 0 and at most 100000", .kernel = KSPEC_KERNEL_MATERN, .nu = 2e5);
    FAILS("nu 1 is for the Matern kernel", .nu = 1);
    FAILS("unknown frequencies 2", .frequencies = (kspec_frequencies)2);
    FAILS("orthogonal frequencies are for the Gaussian", .kernel = KSPEC_KERNEL_LAPLACE,
          .frequencies = KSPEC_FREQUENCIES_ORTHOGONAL);
    FAILS("rff-debiased needs independent features", .methods = KSPEC_NORM_METHOD_RFF_DEBIASED,
          .frequencies = KSPEC_FREQUENCIES_ORTHOGONAL);
    FAILS("orthogonal frequencies are for rff-power and rff-nystrom", .methods = KSPEC_NORM_METHOD_NYSTROM,
          .frequencies = KSPEC_FREQUENCIES_ORTHOGONAL);
    FAILS("rff-debiased needs independent features", .methods = KSPEC_NORM_METHOD_AUTO,
          .frequencies = KSPEC_FREQUENCIES_ORTHOGONAL); /* AUTO takes Lanczos for so few rows */
    FAILS("error 1 is not between 0 and 1", .methods = KSPEC_NORM_METHOD_RFF_POWER, .error = 1);
    FAILS("a wanted error needs the method rff-power", .error = 0.1);
    FAILS("more than 1000000", .methods = KSPEC_NORM_METHOD_RFF_POWER, .error = 1e-9);
    FAILS("sample 7 exceeds the number of rows, 6", .methods = KSPEC_NORM_METHOD_NYSTROM, .sample = 7);
    FAILS("updates -1", .updates = -1);
    FAILS("stop 1 is not", .stop = 1);
    FAILS("repeats -1", .repeats = -1);
    FAILS("5000 features exceed 4096", .methods = KSPEC_NORM_METHOD_RFF_DEBIASED, .features = 5000);
    FAILS("needs the method rff-debiased", .sigma = 1, .tolerance = 0.1);
    FAILS("random features need the rows", .gram = 1, .methods = KSPEC_NORM_METHOD_RFF_POWER);
    FAILS("a Gram matrix takes no kernel, sigma", .gram = 1, .sigma = 1);
    FAILS("a Gram matrix takes no kernel, sigma", .gram = 1, .median_sigma = 1);
    kspec_norm_opts o = {size, .methods = KSPEC_NORM_METHOD_LANCZOS, .median_sigma = 1};
    CHECK_FAILS(kspec_norm(&one, &o, &r, &e), KSPEC_E_ARG, e, "one row has no median distance");
    kspec_norm_opts gram = {size, .gram = 1};
    CHECK_FAILS(kspec_norm(&m, &gram, &r, &e), KSPEC_E_DATA, e, "6 x 2");
    double K[9] = {1, 0.5, 0.2, 0.5, 1, 0.3, 0.2, 0.3, 1};
    kspec_matrix k = view(K, 3, 3);
    CHECK(kspec_norm(&k, &gram, &r, &e) == KSPEC_OK);
    CHECK(isnan(r->sigma) && r->entries[0]->value > 1.6 && r->entries[0]->value < 1.8);
    kspec_free(r);
    K[1] = 0.4;
    CHECK_FAILS(kspec_norm(&k, &gram, &r, &e), KSPEC_E_DATA, e,
                "entries (1, 0) and (0, 1), 0.5 and 0.4, differ");
    K[1] = K[3] = 1.5;
    CHECK_FAILS(kspec_norm(&k, &gram, &r, &e), KSPEC_E_DATA, e, "exceeds");
    K[1] = K[3] = INFINITY;
    CHECK_FAILS(kspec_norm(&k, &gram, &r, &e), KSPEC_E_DATA, e, "row 0, column 1 (from 0) is infinite");
    K[1] = K[3] = 0.5;
    K[4] = -1;
    CHECK_FAILS(kspec_norm(&k, &gram, &r, &e), KSPEC_E_DATA, e, "entry (1, 1) is -1");
    /* all pairs pass, and yet there is an eigenvalue of -7.1 beside 1.9: every method says so */
    double N[100];
    for (size_t c = 0; c < 100; c++) N[c] = c % 11 ? -0.9 : 1;
    kspec_matrix negative = view(N, 10, 10);
    for (unsigned method = KSPEC_NORM_METHOD_EIGEN; method <= KSPEC_NORM_METHOD_NYSTROM; method <<= 1) {
        gram.methods = method;
        if (method != KSPEC_NORM_METHOD_RFF_POWER)
            CHECK_FAILS(kspec_norm(&negative, &gram, &r, &e), KSPEC_E_DATA, e, "eigenvalue of -7.1");
    }
    /* entries whose squares over- or underflow */
    for (int exponent = -1060; exponent <= 1020; exponent += 520) {
        for (size_t c = 0; c < 9; c++) K[c] = ldexp(c % 4 ? 0.5 : 1, exponent);
        gram.methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_LANCZOS |
                       KSPEC_NORM_METHOD_NYSTROM;
        CHECK_MSG(kspec_norm(&k, &gram, &r, &e) == KSPEC_OK, "%s", e.msg);
        for (size_t c = 0; c < r->count; c++)
            CHECK_CLOSE(r->entries[c]->value, ldexp(2, exponent), exponent < -1000 ? 1e-4 : 1e-9);
        kspec_free(r);
    }
    for (size_t c = 0; c < 9; c++) K[c] = 1.5e308;
    CHECK_FAILS(kspec_norm(&k, &gram, &r, &e), KSPEC_E_NUMERIC, e, "exceeds the largest double");
    x[3] = INFINITY;
    CHECK_FAILS(kspec_norm(&m, NULL, &r, &e), KSPEC_E_DATA, e, "row 1, column 1 (from 0) is infinite");
    CHECK_FAILS(kspec_norm(NULL, NULL, &r, &e), KSPEC_E_ARG, e, "the matrix is missing (NULL)");
    kspec_free(NULL);
    CHECK(kspec_name(KSPEC_NAMES_NORM_METHOD, (kspec_norm_method)3) == NULL);
    /* zeros, and a matrix of one entry, have a norm all the same */
    double zero[4] = {0};
    kspec_matrix z = view(zero, 2, 2);
    gram.methods = KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_LANCZOS;
    CHECK(kspec_norm(&z, &gram, &r, &e) == KSPEC_OK);
    CHECK(r->entries[0]->value == 0 && r->entries[1]->value == 0 && r->entries[2]->value == 0 &&
          !r->doubt_count);
    kspec_free(r);
}

int main(void) {
    RUN(bandwidth);
    RUN(cancellation);
    RUN(bad_input);
    return test_done();
}

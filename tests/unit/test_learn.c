/* The network against its double-precision twin, what is measured, and what is refused. */
#include "base/streams.h"
#include "learn/network.h"
#include "help/learn.h"
#include "oracle/learn.h"

static const kspec_learn_scaling MUP = {0.1, 1, 1, 1};

/* ---- the twin against finite differences */

TEST(gradient_of_the_twin) {
    enum { N = 5, D = 7, C = 3, B = 4 };
    oracle o = oracle_new(N, D, C, 0.1);
    double x[B * D];
    const int label[B] = {0, 2, 1, 2};
    kspec_random_normal(3, 0, 0, B * D, x);
    kspec_random_normal(3, 1, 0, oracle_size(&o), o.p);
    oracle_loss(&o, x, label, B, 1);
    for (size_t k = 0; k < oracle_size(&o); k++) {
        double h = 1e-5, p = o.p[k];
        o.p[k] = p + h;
        double up = oracle_loss(&o, x, label, B, 0);
        o.p[k] = p - h;
        double down = oracle_loss(&o, x, label, B, 0);
        o.p[k] = p;
        CHECK_MSG(fabs((up - down) / (2 * h) - o.g[k]) < 1e-7 * (1 + fabs(o.g[k])),
                  "parameter %zu: %.9g, not %.9g", k, (up - down) / (2 * h), o.g[k]);
    }
    oracle_free(&o);
}

/* ---- the network against the twin */

static void copy_weights(const ks_network *net, oracle *o) {
    for (size_t i = 0; i < o->N; i++) {
        for (size_t k = 0; k < o->d; k++) o->p[i * o->d + k] = net->W[i * net->cols + k];
        for (size_t j = 0; j < o->C; j++) o->p[o->N * o->d + i * o->C + j] = net->A[i * net->outputs + j];
    }
}

/* The images of a batch in double precision */
static double *batch_of(const kspec_learn_data *data, const size_t *image, size_t B, int *label) {
    size_t d = data->shape.pixels;
    double *x = malloc(B * d * sizeof *x);
    for (size_t b = 0; b < B; b++) {
        label[b] = data->train.label[image[b]];
        for (size_t k = 0; k < d; k++) x[b * d + k] = data->train.x[image[b] * data->train.stride + k];
    }
    return x;
}

static const size_t nets[][4] = {/* N, d, classes, batch */
                                 {1, 1, 1, 1},   {3, 5, 2, 5},     {8, 16, 10, 32}, {17, 33, 17, 33},
                                 {16, 7, 3, 16}, {31, 40, 10, 50}, {64, 19, 2, 7}};

/* loss, gradient (Adam's first mean is a tenth of it) and twenty steps, on every instruction set */
TEST(steps_against_the_twin) {
    for (size_t c = 0; c < sizeof nets / sizeof *nets; c++) {
        size_t N = nets[c][0], d = nets[c][1], C = nets[c][2], B = nets[c][3], n = 60, image[50];
        int label[50];
        kspec_learn_data *data = open_images(n, 5, d, C, KSPEC_PIXELS_UNIT);
        for (ks_isa isa = 0; isa <= ks_isa_best(); isa++) {
            ks_arena arena = {0};
            ks_network net;
            CHECK(ks_network_make(&net, &arena, N, 4, data, B, &MUP, NULL) == KSPEC_OK);
            net.k = ks_simd_of(isa);
            oracle o = oracle_new(N, d, C, 0.1 / (double)N);
            copy_weights(&net, &o);
            for (int step = 0; step < 20; step++) {
                size_t count = step % 3 == 2 && B > 1 ? B - 1 : B; /* a short batch, too */
                for (size_t b = 0; b < count; b++) image[b] = (b * 7 + (size_t)step * 11) % n;
                double *x = batch_of(data, image, count, label);
                double want = oracle_loss(&o, x, label, count, 1),
                       loss = ks_network_step(&net, &data->train, image, count) / (double)count;
                oracle_adam(&o);
                CHECK_MSG(fabs(loss - want) <= (step ? 1e-4 : 1e-6) * want,
                          "%s, N = %zu, step %d: %.9g, not %.9g", ks_isa_name(isa), N, step, loss, want);
                double largest = 0;
                for (size_t k = 0; k < oracle_size(&o); k++) largest = fmax(largest, fabs(o.g[k]));
                for (size_t i = 0; i < N && step == 0; i++) {
                    for (size_t k = 0; k < d; k++)
                        CHECK_MSG(fabs(net.MW[i * net.cols + k] - o.m[i * d + k]) <= 1e-6 * largest,
                                  "dL/dw: %g, not %g", (double)net.MW[i * net.cols + k], o.m[i * d + k]);
                    for (size_t j = 0; j < C; j++)
                        CHECK_MSG(
                            fabs(net.MA[i * net.outputs + j] - o.m[N * d + i * C + j]) <= 1e-6 * largest,
                            "dL/da: %g, not %g", (double)net.MA[i * net.outputs + j], o.m[N * d + i * C + j]);
                }
                free(x);
            }
            /* what was padded is still zero */
            for (size_t i = 0; i < net.rows; i++)
                for (size_t k = 0; k < net.cols; k++)
                    if (i >= N || k >= d)
                        CHECK(net.W[i * net.cols + k] == 0 && net.VW[i * net.cols + k] == 0);
            oracle_free(&o);
            ks_arena_free(&arena);
        }
        kspec_learn_close(data);
    }
}

/* Mean loss and accuracy over a set whose size is not a multiple of the batch */
TEST(evaluation) {
    enum { N = 11, D = 6, C = 4, COUNT = 37 };
    kspec_learn_data *data = open_images(COUNT, 5, D, C, KSPEC_PIXELS_UNIT);
    ks_arena arena = {0};
    ks_network net;
    CHECK(ks_network_make(&net, &arena, N, 4, data, 8, &MUP, NULL) == KSPEC_OK);
    oracle o = oracle_new(N, D, C, 0.1);
    copy_weights(&net, &o);
    double loss, accuracy;
    ks_network_evaluate(&net, &data->train, &loss, &accuracy);
    size_t image[COUNT], right = 0;
    int label[COUNT];
    for (size_t i = 0; i < COUNT; i++) image[i] = i;
    double *x = batch_of(data, image, COUNT, label);
    CHECK_CLOSE(loss, oracle_loss(&o, x, label, COUNT, 0), 1e-6);
    /* the class whose one-hot vector is nearest has the largest output */
    for (size_t i = 0; i < COUNT; i++) {
        int best = 0;
        double least = INFINITY;
        for (int j = 0; j < C; j++) {
            double l = oracle_loss(&o, x + i * D, &j, 1, 0);
            if (l < least) least = l, best = j;
        }
        right += best == label[i];
    }
    CHECK_CLOSE(accuracy, (double)right / COUNT, 1e-15);
    free(x);
    oracle_free(&o);
    ks_arena_free(&arena);
    kspec_learn_close(data);
}

/*
 * The weights' variances, by the scaling asked for; 20,000 normal numbers: the mean square is within 5% of
 * its expectation, five standard deviations (false alarms: one seed in a million, and the seed is fixed).
 * Widths have streams of their own.
 */
TEST(initialisation) {
    enum { N = 200, D = 100, C = 100 };
    kspec_learn_data *data = open_images(C, 5, D, C, KSPEC_PIXELS_UNIT);
    const kspec_learn_scaling other = {0.1, 1, 0, 2};
    float first[2];
    for (int k = 0; k < 2; k++) {
        const kspec_learn_scaling *s = k ? &other : &MUP;
        ks_arena arena = {0};
        ks_network net;
        CHECK(ks_network_make(&net, &arena, N, 4, data, 8, s, NULL) == KSPEC_OK);
        double w = 0, a = 0;
        for (size_t i = 0; i < N; i++) {
            for (size_t l = 0; l < D; l++) w += pow(net.W[i * net.cols + l], 2) / (N * D);
            for (size_t l = 0; l < C; l++) a += pow(net.A[i * net.outputs + l], 2) / (N * C);
        }
        CHECK_CLOSE(w, pow(N, -s->hidden_power), 0.05);
        CHECK_CLOSE(a, pow(N, -s->output_power), 0.05);
        CHECK_CLOSE(net.step_size, 0.1 / N, 1e-15);
        first[k] = net.W[0];
        ks_arena_free(&arena);
    }
    CHECK_CLOSE(first[1], first[0] * sqrt(N), 1e-6);
    ks_arena arena = {0};
    ks_network net;
    CHECK(ks_network_make(&net, &arena, N + 1, 4, data, 8, &other, NULL) == KSPEC_OK);
    CHECK(fabs(net.W[0] - first[1]) > 1e-3);
    ks_arena_free(&arena);
    kspec_learn_close(data);
}

/* ---- pixels */

TEST(pixels_to_scale) {
    enum { COUNT = 50, D = 6, TEST_COUNT = 9 };
    image_set a = make_images(1, COUNT, D, 3), b = make_images(2, TEST_COUNT, D, 3);
    kspec_matrix x = view(a.x, COUNT, D), y = view(a.y, COUNT, 1), xt = view(b.x, TEST_COUNT, D);
    kspec_learn_data_opts o = {.size = sizeof o, .train_count = 40, .probe = 4};
    kspec_learn_data *data;
    CHECK(kspec_learn_open(&x, &y, &xt, NULL, &o, &data, NULL) == KSPEC_OK);
    const kspec_learn_shape *s = kspec_learn_data_shape(data);
    CHECK(s->train_count == 40 && s->test_count == 9 && s->probe == 4 && s->classes == 3 && s->pixels == D);
    CHECK(kspec_learn_data_shape(NULL) == NULL);
    double mean[D] = {0}, square = 0;
    for (size_t i = 0; i < 40; i++)
        for (size_t k = 0; k < D; k++) {
            double v = data->train.x[i * data->train.stride + k];
            mean[k] += v / 40, square += v * v / 40;
        }
    for (size_t k = 0; k < D; k++) CHECK(fabs(mean[k]) < 1e-7);
    CHECK_CLOSE(square, 1, 1e-6);
    for (size_t k = 0; k < D; k++) { /* the test images are moved as the training images are */
        double shift = a.x[k] - data->train.x[k] / s->pixel_factor;
        CHECK_CLOSE(data->probe[3 * D + k], s->pixel_factor * (b.x[3 * D + k] - shift), 1e-5);
        CHECK_CLOSE(data->test.x[3 * data->test.stride + k], data->probe[3 * D + k], 1e-6);
    }
    kspec_learn_close(data);
    o.pixels = KSPEC_PIXELS_255;
    CHECK(kspec_learn_open(&x, &y, &xt, NULL, &o, &data, NULL) == KSPEC_OK);
    CHECK_CLOSE(data->train.x[2], a.x[2] / 255, 1e-7);
    kspec_learn_close(data);
    free_images(&a);
    free_images(&b);
}

/* ---- what is measured */

typedef struct {
    double phi[3][20 * 12];
    size_t epochs[3], count;
} album;

static kspec_status keep(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                         kspec_error *err) {
    album *a = ctx;
    (void)err;
    CHECK(width == 12 && seed == 9 && phi->rows == 20 && phi->cols == 12 && phi->row_stride == 12 &&
          a->count < 3);
    memcpy(a->phi[a->count], phi->data, sizeof a->phi[0]);
    a->epochs[a->count++] = epoch;
    return KSPEC_OK;
}

/* m(n)/m(1)^n without row i (i < P) or column i - P: of the whole matrix where i is P + Q */
static double ratio_without(const double *phi, size_t P, size_t Q, size_t i, kspec_estimator e, int n) {
    size_t rows = P - (i < P), cols = Q - (i >= P && i < P + Q), k = 0;
    double *x = malloc(P * Q * sizeof *x), found = NAN;
    for (size_t r = 0; r < P; r++)
        for (size_t c = 0; c < Q; c++)
            if (r != i && c + P != i) x[k++] = phi[r * Q + c];
    CHECK(k == rows * cols);
    kspec_matrix m = view(x, rows, cols);
    kspec_moments_opts o = {.size = sizeof o, .nmax = n, .estimators = e, .no_stderr = 1, .normalize = 1};
    kspec_moments_result *r;
    CHECK(kspec_moments(&m, 1, &o, &r, NULL) == KSPEC_OK);
    for (size_t j = 0; j < r->count; j++)
        if (r->estimates[j]->n == n) found = r->estimates[j]->value;
    kspec_free(r);
    free(x);
    return found;
}

typedef struct {
    double phi[60 * 40];
} picture;

static kspec_status keep_last(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                              kspec_error *err) {
    picture *p = ctx;
    (void)width, (void)seed, (void)epoch, (void)err;
    CHECK(phi->rows == 60 && phi->cols == 40);
    memcpy(p->phi, phi->data, sizeof p->phi);
    return KSPEC_OK;
}

/*
 * Against the two-way jackknife of the ratio itself, each row and column really left out: equal to first
 * order, and well below the error at a fixed scale.
 */
TEST(errors_of_the_ratio) {
    enum { P = 60, Q = 40 };
    kspec_learn_data *data = open_images(60, P, 10, 3, KSPEC_PIXELS_UNIT);
    static picture at;
    const size_t width = Q;
    kspec_learn_opts o = {.size = sizeof o,
                          .epochs = 2,
                          .nmax = 3,
                          .store = &(kspec_learn_store){.ctx = &at, .activations = keep_last}};
    kspec_learn_result *r;
    CHECK(kspec_learn(data, &width, 1, &o, &r, NULL) == KSPEC_OK);
    const kspec_learn_moments *last = r->runs[0]->epochs[1]->moments;
    for (size_t k = 0; k < last->count; k++) {
        const kspec_estimate *e = last->estimates[k];
        double error = last->ratio_error[k], variance = 0;
        for (int side = 0; side < 2; side++) {
            size_t count = side ? Q : P;
            double sum = 0, square = 0;
            for (size_t i = 0; i < count; i++) {
                double x = ratio_without(at.phi, P, Q, side ? P + i : i, e->estimator, e->n);
                sum += x, square += x * x;
            }
            variance += (double)(count - 1) / (double)count * (square - sum * sum / (double)count);
        }
        if (e->n == 1)
            CHECK(error == 0);
        else
            CHECK_MSG(fabs(error / sqrt(variance) - 1) < 0.1 && error < 0.6 * e->std_error,
                      "%s, n = %d: %g, by leaving out %g; at a fixed scale %g",
                      kspec_name(KSPEC_NAMES_ESTIMATOR, e->estimator), e->n, error, sqrt(variance),
                      e->std_error);
    }
    kspec_free(r);
    kspec_learn_close(data);
}

TEST(moments_of_the_activations) {
    enum { N = 12, P = 20, D = 10, SUB = 5 };
    kspec_learn_data *data = open_images(60, P, D, 3, KSPEC_PIXELS_UNIT);
    static album a;
    const size_t width = N;
    kspec_learn_opts o = {.size = sizeof o,
                          .seed = 9,
                          .epochs = 3,
                          .subsample = SUB,
                          .nmax = 3,
                          .estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_AUTO | KSPEC_ESTIMATOR_PATH,
                          .store = &(kspec_learn_store){.ctx = &a, .activations = keep}};
    kspec_learn_result *r;
    kspec_error err;
    CHECK_MSG(kspec_learn(data, &width, 1, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    kspec_learn_epoch **epochs = r->runs[0]->epochs;
    CHECK(r->count == 1 && r->runs[0]->epoch_count == 3 && a.count == 3);
    CHECK(a.epochs[1] == 2 && a.epochs[2] == 3);
    CHECK(epochs[2]->loss < epochs[0]->loss && r->runs[0]->fma_rate > 0);

    /* the first: max(x.w, 0) of the initial weights, over its root mean square */
    ks_arena arena = {0};
    ks_network net;
    CHECK(ks_network_make(&net, &arena, N, 9, data, 32, &MUP, NULL) == KSPEC_OK);
    double want[P * N], square = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < N; k++) {
            double sum = 0;
            for (size_t l = 0; l < D; l++) sum += data->probe[i * D + l] * net.W[k * net.cols + l];
            want[i * N + k] = fmax(sum, 0);
            square += want[i * N + k] * want[i * N + k];
        }
    for (size_t k = 0; k < P * N; k++) CHECK(fabs(a.phi[0][k] - want[k] / sqrt(square / (P * N))) < 1e-12);
    ks_arena_free(&arena);

    size_t order[N];
    ks_random_permutation(9, ks_learn_stream(N, KS_LEARN_SUBSAMPLE), N, order);
    for (size_t e = 0; e < 3; e++) {
        kspec_moments_opts how = {
            .size = sizeof how, .nmax = 3, .estimators = o.estimators, .seed = 9, .normalize = 1};
        kspec_moments_result *m;
        double sub[P * SUB];
        for (size_t i = 0; i < P; i++)
            for (size_t k = 0; k < SUB; k++) sub[i * SUB + k] = a.phi[e][i * N + order[k]];
        for (int part = 0; part < 2; part++) {
            kspec_matrix phi = part ? view(sub, P, SUB) : view(a.phi[e], P, N);
            const kspec_learn_moments *at = part ? epochs[e]->subsample : epochs[e]->moments;
            CHECK(kspec_moments(&phi, 1, &how, &m, &err) == KSPEC_OK);
            CHECK(m->count == at->count);
            for (size_t k = 0; k < m->count; k++) {
                const kspec_estimate *x = at->estimates[k];
                CHECK(x->estimator == m->estimates[k]->estimator && x->n == m->estimates[k]->n);
                CHECK(fabs(x->value - m->estimates[k]->value) < 1e-12 &&
                      fabs(x->std_error - m->estimates[k]->std_error) < 1e-11);
                if (x->n == 1) CHECK_CLOSE(x->value, 1, 1e-12);
            }
            kspec_free(m);
        }
    }
    kspec_free(r);
    kspec_learn_close(data);
}

/* Classes that are far apart are learnt; without test labels there is no test accuracy. */
TEST(it_learns) {
    kspec_learn_data *data = open_images(300, 100, 10, 3, KSPEC_PIXELS_UNIT);
    const size_t widths[] = {4, 30};
    kspec_learn_opts o = {.size = sizeof o, .epochs = 20, .every = 20, .subsample = 10, .nmax = 2};
    kspec_learn_result *r;
    kspec_error err;
    CHECK_MSG(kspec_learn(data, widths, 2, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    CHECK(r->every == 20 && r->batch == 32 && r->nmax == 2 && r->seconds > 0);
    for (size_t k = 0; k < 2; k++) {
        const kspec_learn_epoch *first = r->runs[k]->epochs[0], *last = r->runs[k]->epochs[1];
        CHECK(r->runs[k]->width == widths[k] && r->runs[k]->epoch_count == 2 && last->epoch == 20);
        CHECK_MSG(last->accuracy > 0.9 && last->test_accuracy > 0.9 && last->loss < 0.4 * first->loss,
                  "%g %g %g", last->accuracy, last->test_accuracy, last->loss);
        /* four neurons have no subsample of ten */
        CHECK(k ? first->subsample->count == first->moments->count : first->subsample == NULL);
    }
    kspec_free(r);
    kspec_learn_close(data);
}

/* NULL options: the initialisation alone, orders up to 4 */
TEST(defaults) {
    kspec_learn_data *data = open_images(40, 10, 5, 3, KSPEC_PIXELS_UNIT);
    const size_t width = 6;
    kspec_learn_result *r, *zeroed;
    CHECK(kspec_learn(data, &width, 1, NULL, &r, NULL) == KSPEC_OK);
    CHECK(kspec_learn(data, &width, 1, &(kspec_learn_opts){.size = sizeof(kspec_learn_opts)}, &zeroed,
                      NULL) == KSPEC_OK);
    CHECK(same_results(r, zeroed));
    const kspec_learn_run *run = r->runs[0];
    CHECK(r->count == 1 && run->epoch_count == 1 && run->epochs[0]->epoch == 0 && run->fma_rate == 0);
    CHECK(r->nmax == 4 && run->epochs[0]->moments->count == 8 && run->epochs[0]->subsample == NULL);
    kspec_free(r);
    kspec_free(zeroed);
    kspec_free(NULL);
    kspec_learn_close(data);
}

int main(void) {
    RUN(gradient_of_the_twin);
    RUN(steps_against_the_twin);
    RUN(evaluation);
    RUN(initialisation);
    RUN(pixels_to_scale);
    RUN(moments_of_the_activations);
    RUN(errors_of_the_ratio);
    RUN(it_learns);
    RUN(defaults);
    return test_done();
}

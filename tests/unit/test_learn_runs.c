/* Runs side by side, interrupted, resumed, refused: the same bits, or a message. */
#include "learn/data.h"
#include "help/learn.h"

#include <stdatomic.h>

static const size_t widths[] = {3, 17, 8};

static kspec_learn_opts options(size_t epochs, int threads) {
    return (kspec_learn_opts){.size = sizeof(kspec_learn_opts),
                              .seeds = 2,
                              .seed = 5,
                              .epochs = epochs,
                              .batch = 7,
                              .subsample = 6,
                              .nmax = 3,
                              .threads = threads};
}

static kspec_learn_data *some_data(void) { return open_images(50, 15, 9, 3, KSPEC_PIXELS_UNIT); }

/* Networks of some widths, or of all three */
static kspec_learn_result *learn_some(const kspec_learn_data *data, const size_t *some, size_t count,
                                      const kspec_learn_opts *o) {
    kspec_learn_result *r;
    kspec_error err;
    CHECK_MSG(kspec_learn(data, some, count, o, &r, &err) == KSPEC_OK, "%s", err.msg);
    return r;
}

static kspec_learn_result *learn(const kspec_learn_data *data, const kspec_learn_opts *o) {
    return learn_some(data, widths, 3, o);
}

TEST(any_number_of_threads) {
    kspec_learn_data *data = some_data();
    kspec_learn_opts o = options(5, 1);
    kspec_learn_result *one = learn(data, &o);
    kspec_learn_run **runs = one->runs;
    CHECK(one->count == 6 && runs[2]->width == 17 && runs[3]->seed == 6 && runs[5]->epoch_count == 4);
    CHECK(runs[0]->epochs[3]->epoch == 5 && runs[0]->epochs[2]->epoch == 4);
    CHECK(runs[2]->epochs[0]->loss != runs[3]->epochs[0]->loss); /* seeds differ */
    for (o.threads = 2; o.threads <= 3; o.threads++) {
        kspec_learn_result *more = learn(data, &o);
        CHECK(same_results(one, more));
        kspec_free(more);
    }
    o.seed++; /* and the comparison can fail */
    kspec_learn_result *other = learn(data, &o);
    CHECK(!same_results(one, other));
    kspec_free(other);
    kspec_free(one);
    kspec_learn_close(data);
}

/* A run is the same whatever others there are, random orders of its estimates included */
TEST(a_run_by_itself) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    kspec_learn_opts o = options(2, 1);
    o.estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_PATH, o.permutations = 3, o.store = &store;
    kspec_learn_result *all = learn(data, &o);
    o.seeds = 1, o.seed = 6;
    kspec_learn_result *kept = learn_some(data, &widths[1], 1, &o);
    CHECK(kept->runs[0]->resumed == 2);
    o.store = NULL;
    kspec_learn_result *one = learn_some(data, &widths[1], 1, &o);
    CHECK(same_runs(one->runs[0], all->runs[3]) && same_runs(kept->runs[0], all->runs[3]));
    kspec_free(one);
    kspec_free(kept);
    kspec_free(all);
    memory_free(&m);
    kspec_learn_close(data);
}

/* ---- interruption */

typedef struct {
    atomic_int calls;
    int most;
} patience;

static int report(void *ctx, double fraction) {
    patience *p = ctx;
    CHECK(fraction >= 0 && fraction <= 1);
    return atomic_fetch_add(&p->calls, 1) >= p->most;
}

/* Interrupted after 0, 4, 8, ... reports, and resumed each time: the attempts until `r` is complete */
static int in_pieces(kspec_learn_data *data, kspec_learn_opts o, kspec_learn_result **r) {
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    kspec_error err;
    kspec_status st = KSPEC_E_CANCELLED;
    int attempts = 0;
    for (int k = 0; st == KSPEC_E_CANCELLED && k < 1000; k += 4, attempts++) {
        patience p = {.most = k};
        o.store = &store;
        o.progress = (kspec_progress){report, &p};
        st = kspec_learn(data, widths, 3, &o, r, &err);
        if (st) CHECK(st == KSPEC_E_CANCELLED && *r == NULL);
    }
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    memory_free(&m);
    return attempts;
}

TEST(interrupted_and_resumed) {
    kspec_learn_data *data = some_data();
    for (int threads = 1; threads <= 3; threads++) {
        kspec_learn_opts o = options(6, threads);
        kspec_learn_result *whole = learn(data, &o);
        int attempts = 0, rounds = 0;
        size_t most = 0;
        /* Only the calling thread reports. On a busy machine the others may end meanwhile: then once more. */
        while ((attempts <= 3 || most == 0) && rounds++ < (threads > 1 ? 100 : 1)) {
            kspec_learn_result *r = NULL;
            attempts = in_pieces(data, o, &r);
            CHECK(r && same_results(whole, r));
            for (size_t k = 0; r && k < r->count; k++)
                most = r->runs[k]->resumed > most ? r->runs[k]->resumed : most;
            kspec_free(r);
        }
        CHECK_MSG(attempts > 3 && most > 0, "%d attempts", attempts);
        kspec_free(whole);
    }
    kspec_learn_close(data);
}

/* How far it is counts what a checkpoint has brought: nothing is reported below that */
static int lowest(void *ctx, double fraction) {
    double *least = ctx;
    if (fraction > 0) *least = fmin(*least, fraction); /* 0: it has not begun */
    return 0;
}

TEST(progress_of_the_resumed) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    kspec_learn_opts o = options(8, 1);
    double least = 1;
    o.seeds = 1, o.nmax = 2, o.subsample = 0, o.store = &store;
    kspec_free(learn_some(data, widths, 1, &o));
    o.epochs = 10, o.progress = (kspec_progress){lowest, &least};
    kspec_learn_result *r = learn_some(data, widths, 1, &o);
    CHECK(r->runs[0]->resumed == 8);
    CHECK_MSG(least >= 9.0 / 11 && least < 1, "%g", least);
    kspec_free(r);
    memory_free(&m);
    kspec_learn_close(data);
}

/* More epochs than were kept, as many, and fewer; epoch 5 is odd, and measured as the last one only */
TEST(longer_and_shorter) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    const size_t lengths[] = {5, 8, 8, 4, 0};
    for (int k = 0; k < 5; k++) {
        kspec_learn_opts o = options(lengths[k], 2);
        kspec_learn_result *fresh = learn(data, &o);
        o.store = &store;
        int saves = m.saves;
        kspec_learn_result *kept = learn(data, &o);
        CHECK_MSG(same_results(fresh, kept), "%zu epochs", lengths[k]);
        CHECK(k < 2 || (m.saves == saves && kept->runs[0]->resumed == 8 && kept->runs[0]->fma_rate == 0));
        kspec_free(fresh);
        kspec_free(kept);
    }
    kspec_learn_opts o = options(7, 2);
    o.store = &store;
    kspec_learn_result *r;
    kspec_error err;
    CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_IO, err,
                "past epoch 7, and was not measured there");
    memory_free(&m);
    kspec_learn_close(data);
}

/* ---- checkpoints that are refused, and left as they were */

static void refused(const kspec_learn_data *data, size_t width, const kspec_learn_opts *o, memory_store *m,
                    const char *text) {
    kspec_learn_opts with = *o;
    kspec_learn_result *r;
    kspec_error err;
    int saves = m->saves;
    const kspec_learn_store store = store_in(m);
    with.store = &store;
    CHECK_FAILS(kspec_learn(data, &width, 1, &with, &r, &err), KSPEC_E_IO, err, text);
    CHECK(m->saves == saves && r == NULL);
}

TEST(checkpoints_of_another_run) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    const size_t width = 8;
    kspec_learn_opts o = options(2, 1), p;
    o.seeds = 1, o.store = &store;
    kspec_free(learn_some(data, &width, 1, &o));
    kspec_learn_scaling s = {0.2, 1, 1, 1};
    o.epochs = 4;
    p = o, p.scaling = &s, refused(data, width, &p, &m, "its learning rate is 0.1, not 0.2");
    s = (kspec_learn_scaling){0.1, 1, 0.5, 1};
    p = o, p.scaling = &s, refused(data, width, &p, &m, "its power of the hidden weights is 1, not 0.5");
    p = o, p.batch = 8, refused(data, width, &p, &m, "its batch is 7, not 8");
    p = o, p.every = 1, refused(data, width, &p, &m, "from one measurement to the next is 2, not 1");
    p = o, p.subsample = 5, refused(data, width, &p, &m, "its subsample is 6, not 5");
    p = o, p.nmax = 2, refused(data, width, &p, &m, "its highest order is 3, not 2");
    p = o, p.estimators = KSPEC_ESTIMATOR_NAIVE,
    refused(data, width, &p, &m, "its set of estimators is 33, not 1");
    p = o, p.no_stderr = 1, refused(data, width, &p, &m, "its no_stderr is 0, not 1");
    kspec_learn_data *other = open_images(51, 15, 9, 3, KSPEC_PIXELS_UNIT);
    refused(other, width, &o, &m, "its number of training images is 50, not 51");
    kspec_learn_close(other);
    other = open_images(50, 15, 9, 3, KSPEC_PIXELS_255);
    refused(other, width, &o, &m, "its scale of the pixels is");
    kspec_learn_close(other);

    /* one pixel of one test image */
    image_set a = make_images(1, 50, 9, 3), b = make_images(2, 15, 9, 3);
    b.x[100] += 1;
    kspec_matrix x = view(a.x, 50, 9), y = view(a.y, 50, 1), xt = view(b.x, 15, 9), yt = view(b.y, 15, 1);
    CHECK(kspec_learn_open(&x, &y, &xt, &yt, NULL, &other, NULL) == KSPEC_OK);
    refused(other, width, &o, &m, "its digest of images and labels is");
    kspec_learn_close(other);
    free_images(&a);
    free_images(&b);
    memory_free(&m);
    kspec_learn_close(data);
}

/* Cut off anywhere, any bit turned: refused. (A 64-bit checksum sees every single bit.) */
TEST(damaged_checkpoints) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    const size_t width = 2;
    kspec_learn_opts o = options(2, 1);
    o.seeds = 1, o.nmax = 1, o.subsample = 0, o.store = &store;
    kspec_free(learn_some(data, &width, 1, &o));
    size_t size = m.size[0];
    for (size_t k = 1; k < size; k += k < 300 ? 1 : 97) {
        m.size[0] = k;
        refused(data, width, &o, &m, "the checkpoint of width 2, seed 5 is");
    }
    m.size[0] = size;
    for (size_t k = 0; k < size; k += k < 300 ? 1 : 53) {
        m.bytes[0][k] ^= 1u << k % 8;
        refused(data, width, &o, &m, "the checkpoint of width 2, seed 5 is");
        m.bytes[0][k] ^= 1u << k % 8;
    }
    kspec_learn_result *r = learn_some(data, &width, 1, &o); /* whole again */
    CHECK(r->runs[0]->resumed == 2);
    kspec_free(r);
    memory_free(&m);
    kspec_learn_close(data);
}

/*
 * Any word of all but the weights changed, and the checksum made to fit: refused or taken, never out of
 * bounds
 */
TEST(forged_checkpoints) {
    kspec_learn_data *data = some_data();
    memory_store m = {0};
    const kspec_learn_store store = store_in(&m);
    const size_t width = 2;
    kspec_learn_opts o = options(6, 1);
    kspec_learn_result *r;
    o.seeds = 1, o.nmax = 1, o.subsample = 2, o.store = &store;
    kspec_free(learn_some(data, &width, 1, &o));
    size_t words = m.size[0] / 8, weights = 3 * 8 * (16 + 16) / 2, epoch = 0;
    uint64_t *kept = malloc(m.size[0]);
    memcpy(kept, m.bytes[0], m.size[0]);
    for (size_t k = 0; !epoch; k++) /* epoch 6, step 6*8, 4 records: what follows the configuration */
        if (kept[k] == 6 && kept[k + 1] == 48 && kept[k + 2] == 4) epoch = k;
    const struct {
        size_t word;
        uint64_t value;
    } refusals[] = {{epoch, 0},     /* what is there would be measured again */
                    {epoch, 5},     /* likewise */
                    {epoch + 2, 0}, /* nothing measured, and yet it is the last epoch */
                    {epoch + 2, 5}, /* a record of weights */
                    {epoch + 2, UINT64_MAX},
                    {epoch + 3, 2},          /* the first is not of the initialisation */
                    {epoch + 7, UINT64_MAX}, /* estimates */
                    {epoch + 8, UINT64_MAX / 8}};
    for (size_t longer = 0; longer < 2; longer++, o.epochs = 8)
        for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
            uint64_t *w = (uint64_t *)m.bytes[0];
            w[refusals[k].word] = refusals[k].value;
            w[words - 1] = ks_fnv(KS_FNV, w, m.size[0] - 8);
            refused(data, width, &o, &m, "is damaged: ");
            memcpy(w, kept, m.size[0]);
        }
    const uint64_t values[] = {0, 1, 7, UINT64_MAX, (uint64_t)1 << 61};
    o.epochs = 6;
    for (size_t k = 0; k + 1 + weights < words; k++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            uint64_t *w = (uint64_t *)m.bytes[0];
            w[k] = values[v];
            w[words - 1] = ks_fnv(KS_FNV, w, m.size[0] - 8);
            kspec_status st = kspec_learn(data, &width, 1, &o, &r, NULL);
            CHECK_MSG(st == KSPEC_OK || st == KSPEC_E_IO, "word %zu: %d", k, (int)st);
            if (!st) CHECK(r->runs[0]->epoch_count <= 4 && r->runs[0]->epochs[0]->epoch == 0);
            kspec_free(r);
            memcpy(w, kept, m.size[0]);
        }
    free(kept);
    memory_free(&m);
    kspec_learn_close(data);
}

/* ---- a store that fails */

static kspec_status no_space(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                             kspec_error *err) {
    (void)ctx, (void)seed, (void)bytes, (void)count;
    snprintf(err->msg, sizeof err->msg, "no space for width %zu", width);
    return KSPEC_E_IO;
}

static kspec_status no_album(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                             kspec_error *err) {
    (void)ctx, (void)seed, (void)epoch, (void)phi;
    snprintf(err->msg, sizeof err->msg, "no file for width %zu", width);
    return KSPEC_E_IO;
}

TEST(stores_that_fail) {
    kspec_learn_data *data = some_data();
    kspec_learn_result *r;
    kspec_error err;
    for (int threads = 1; threads <= 3; threads++) {
        kspec_learn_opts o = options(4, threads);
        o.store = &(kspec_learn_store){.save = no_space};
        CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_IO, err, "no space for width");
        o.store = &(kspec_learn_store){.activations = no_album};
        CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_IO, err, "no file for width");
    }
    kspec_learn_close(data);
}

/* ---- bad input */

TEST(options_out_of_range) {
    kspec_learn_data *data = some_data();
    kspec_learn_result *r;
    kspec_error err;
    const size_t zero[] = {4, 0}, twice[] = {4, 8, 4}, huge = (size_t)1 << 40;
    CHECK_FAILS(kspec_learn(NULL, widths, 3, NULL, &r, &err), KSPEC_E_ARG, err, "the data are missing");
    CHECK_FAILS(kspec_learn(data, NULL, 3, NULL, &r, &err), KSPEC_E_ARG, err, "no width");
    CHECK_FAILS(kspec_learn(data, widths, 0, NULL, &r, &err), KSPEC_E_ARG, err, "no width");
    CHECK_FAILS(kspec_learn(data, zero, 2, NULL, &r, &err), KSPEC_E_ARG, err, "width 0 is not between 1 and");
    CHECK_FAILS(kspec_learn(data, &huge, 1, NULL, &r, &err), KSPEC_E_ARG, err, "is not between 1 and");
    CHECK_FAILS(kspec_learn(data, twice, 3, NULL, &r, &err), KSPEC_E_ARG, err, "width 4 is given twice");
    CHECK(r == NULL);
#define REFUSED(change, text)                                                            \
    do {                                                                                 \
        kspec_learn_opts o = options(2, 1);                                              \
        change;                                                                          \
        CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_ARG, err, text); \
        CHECK(r == NULL);                                                                \
    } while (0)
    REFUSED(o.subsample = 18, "subsample 18 exceeds the width 17");
    REFUSED(o.nmax = 4, "order 4 exceeds 3");
    REFUSED(o.nmax = -1, "order -1 is below 1");
    REFUSED(o.batch = 51, "batch 51 exceeds the 50 training images");
    REFUSED(o.epochs = 2000000, "epochs 2000000 exceeds");
    REFUSED(o.estimators = 64, "unknown estimators");
    REFUSED(o.threads = -1, "threads -1");
    REFUSED(o.size = 5000, "size field");
    REFUSED(o.scaling = (&(kspec_learn_scaling){-1, 1, 1, 1}), "learning rate -1");
    REFUSED(o.scaling = (&(kspec_learn_scaling){NAN, 1, 1, 1}), "learning rate nan");
    REFUSED(o.scaling = (&(kspec_learn_scaling){1, 1, 11, 1}), "power 11 of the width");
    REFUSED(o.scaling = (&(kspec_learn_scaling){1, INFINITY, 1, 1}), "power inf of the width");
    kspec_learn_opts o = options(4, 2);
    o.scaling = &(kspec_learn_scaling){1e20, 1, 1, 1};
    CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_NUMERIC, err, "at epoch 1;");
    o.scaling = &(kspec_learn_scaling){1e5, 1, 1, 1}; /* finite, and hopeless */
    CHECK_FAILS(kspec_learn(data, widths, 3, &o, &r, &err), KSPEC_E_NUMERIC, err, "at epoch 1;");
    kspec_learn_close(data);
}

TEST(data_out_of_range) {
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13}, y[4] = {0, 1, 2, 1}, same[12] = {0};
    kspec_learn_data *data = NULL;
    kspec_error err;
    kspec_matrix X = view(x, 4, 3), Y = view(y, 4, 1);
#define REFUSES(code, a, b, c, d, text, ...)                                                           \
    do {                                                                                               \
        kspec_learn_data_opts o = {.size = sizeof o, __VA_ARGS__};                                     \
        kspec_matrix ma = a, mb = b, mc = c, md = d;                                                   \
        CHECK_FAILS(kspec_learn_open(&ma, &mb, &mc, md.data ? &md : NULL, &o, &data, &err), code, err, \
                    text);                                                                             \
        CHECK(data == NULL);                                                                           \
    } while (0)
#define WRONG(a, b, c, d, ...) REFUSES(KSPEC_E_ARG, a, b, c, d, __VA_ARGS__)
#define UNFIT(a, b, c, d, ...) REFUSES(KSPEC_E_DATA, a, b, c, d, __VA_ARGS__)
    const kspec_matrix none = {0}, Y1 = view(y, 1, 1);
    WRONG(view(x, 0, 3), Y, X, none, "the matrix of images is empty: 0 x 3", 0);
    WRONG(X, Y, view(x, 4, 0), none, "the matrix of test images is empty: 4 x 0", 0);
    WRONG(X, view(y, 3, 1), X, none, "4 images, but 3 labels", 0);
    WRONG(X, Y, view(x, 3, 3), view(y, 4, 1), "3 test images, but 4 labels", 0);
    WRONG(X, view(y, 2, 2), X, none, "labels have 2 columns, not 1", 0);
    WRONG(X, Y, view(x, 4, 2), none, "test images have 2 pixels, but the images have 3", 0);
    WRONG(X, Y, X, none, "5 training images exceed the 4 given", .train_count = 5);
    WRONG(X, Y, X, none, "5 test images exceed the 4 given", .probe = 5);
    UNFIT(X, Y, X, none, "labels: row 2 (from 0) is 2, not a whole number from 0 to 1", .classes = 2);
    WRONG(X, Y, X, none, "classes 20000 exceeds", .classes = 20000);
    WRONG(X, Y, X, none, "unknown scaling of pixels 7", .pixels = (kspec_pixels)7);
    UNFIT(view(same, 4, 3), Y, X, none, "the 4 training images vary by a mean square of 0", 0);
    y[3] = -1;
    UNFIT(X, Y, X, none, "labels: row 3 (from 0) is -1, not a whole number", 0);
    y[3] = 0.5;
    UNFIT(X, Y, X, none, "labels: row 3 (from 0) is 0.5, not a whole number", 0);
    y[3] = NAN;
    UNFIT(X, Y, X, none, "labels: row 3 (from 0) is nan, not a whole number", 0);
    y[3] = 1e9;
    UNFIT(X, Y, X, none, "is 1e+09, not a whole number from 0 to 9999", 0);
    y[3] = 3;
    WRONG(X, view(y, 3, 1), X, Y, "4 images, but 3 labels", 0);
    UNFIT(view(x, 3, 3), view(y, 3, 1), X, Y,
          "test labels: row 3 (from 0) is 3, not a whole number from 0 to 2", 0);
    x[7] = NAN;
    UNFIT(X, Y, X, none, "images: row 2, column 1 (from 0) is NaN", 0);
    UNFIT(view(same, 4, 3), Y, X, none, "test images: row 2, column 1 (from 0) is NaN", 0);
    x[7] = 1e200;
    UNFIT(X, Y, X, none,
          "images: row 2, column 1 (from 0) is 1e+200, scaled 3.92157e+197: beyond 3.40282e+38",
          .pixels = KSPEC_PIXELS_255);
    UNFIT(view(x + 9, 1, 3), Y1, X, none, "test images: row 2, column 1 (from 0) is 1e+200",
          .pixels = KSPEC_PIXELS_255);
    x[7] = -INFINITY;
    UNFIT(X, Y, X, none, "images: row 2, column 1 (from 0) is infinite", 0);

    CHECK_FAILS(kspec_learn_open(NULL, &Y, &X, NULL, NULL, &data, &err), KSPEC_E_ARG, err,
                "the matrix of images is missing");
    CHECK_FAILS(kspec_learn_open(&X, NULL, &X, NULL, NULL, &data, &err), KSPEC_E_ARG, err,
                "the column of labels is missing");

    /* black test images: no neuron can be active */
    x[7] = 8, y[3] = 1;
    kspec_matrix black = view(same, 4, 3);
    kspec_learn_data_opts o = {.size = sizeof o, .pixels = KSPEC_PIXELS_255};
    CHECK(kspec_learn_open(&X, &Y, &black, NULL, &o, &data, &err) == KSPEC_OK);
    kspec_learn_opts l = options(2, 1);
    kspec_learn_result *r;
    l.batch = 2;
    CHECK_FAILS(kspec_learn(data, widths, 3, &l, &r, &err), KSPEC_E_NUMERIC, err,
                "at epoch 0 no neuron is active");
    kspec_learn_close(data);

    /* pixels that are finite in single precision, and products that are not */
    for (int k = 0; k < 12; k++) x[k] = 255 * 1e38 * (1 + k % 3);
    CHECK(kspec_learn_open(&X, &Y, &X, NULL, &o, &data, &err) == KSPEC_OK);
    l.scaling = &(kspec_learn_scaling){0.1, 1, -9, 1}; /* hidden weights of order N^4.5 */
    CHECK_FAILS(kspec_learn(data, widths, 3, &l, &r, &err), KSPEC_E_NUMERIC, err,
                "at epoch 0, before any training");
    kspec_learn_close(data);
    kspec_learn_close(NULL);
}

/* One image, one pixel, one class, one neuron (of a seed for which it is active) */
TEST(one_of_everything) {
    double x = 200, y = 0;
    kspec_matrix X = view(&x, 1, 1), Y = view(&y, 1, 1);
    kspec_learn_data_opts d = {.size = sizeof d, .pixels = KSPEC_PIXELS_255};
    kspec_learn_data *data;
    CHECK(kspec_learn_open(&X, &Y, &X, &Y, &d, &data, NULL) == KSPEC_OK);
    const size_t width = 1;
    int active = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        kspec_learn_opts o = {.size = sizeof o, .epochs = 1, .batch = 1, .seed = seed};
        kspec_learn_result *r;
        kspec_error err;
        kspec_status st = kspec_learn(data, &width, 1, &o, &r, &err);
        CHECK_MSG(st == KSPEC_OK || (st == KSPEC_E_NUMERIC && strstr(err.msg, "no neuron is active")), "%s",
                  err.msg);
        if (st) continue;
        active++;
        const kspec_learn_epoch *first = r->runs[0]->epochs[0];
        CHECK(first->accuracy == 1 && first->moments->count == 2);
        CHECK_CLOSE(first->moments->estimates[0]->value, 1, 1e-14);
        kspec_free(r);
    }
    CHECK(active > 0 && active < 4);
    kspec_learn_close(data);
}

int main(void) {
    RUN(any_number_of_threads);
    RUN(a_run_by_itself);
    RUN(interrupted_and_resumed);
    RUN(progress_of_the_resumed);
    RUN(longer_and_shorter);
    RUN(checkpoints_of_another_run);
    RUN(damaged_checkpoints);
    RUN(forged_checkpoints);
    RUN(stores_that_fail);
    RUN(options_out_of_range);
    RUN(data_out_of_range);
    RUN(one_of_everything);
    return test_done();
}

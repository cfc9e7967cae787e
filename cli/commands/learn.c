/* kspec learn: estimates the moments of a network's hidden layer while the network learns. */
#include "commands/learn.h"

#include <math.h>
#include <stdlib.h>

#define ARG(field) offsetof(learn_args, field)
#define HOW(field) offsetof(learn_args, how.field)

/* clang-format off */
static const cli_choice pixels[] = {{"unit", KSPEC_PIXELS_UNIT}, {"255", KSPEC_PIXELS_255}, {0}};

static const cli_option options[] = {
    {"images",           0, OPT_STRING, ARG(images),       "FILE",
     "training images: one row per image, or an array of matrices"},
    {"labels",           0, OPT_STRING, ARG(labels),       "FILE",
     "classes of the training images: 0, 1, 2, ..."},
    {"test-images",      0, OPT_STRING, ARG(test_images),  "FILE",
     "test images of the same size, on which to measure"},
    {"test-labels",      0, OPT_STRING, ARG(test_labels),  "FILE",
     "classes of the test images, for the test accuracy"},
    {"width",            0, OPT_LIST,   ARG(width),        "N,...",
     "numbers of hidden neurons", .whole = 1},
    {"epochs",           0, OPT_SIZE,   ARG(epochs),       "E",
     "passes through the training images"},
    {"train-count",      0, OPT_SIZE,   ARG(train_count),  "M",
     "train on the first M images (default 10000, or all if fewer)", .min = 1},
    {"probe",            0, OPT_SIZE,   ARG(probe),        "P",
     "measure on the first P test images (default 1000, or all if fewer)", .min = 1},
    {"seeds",            0, OPT_SIZE,   ARG(seeds),        "K",
     "train K networks of each width, with consecutive seeds (default 1)", .min = 1},
    {"subsample",        0, OPT_SIZE,   ARG(subsample),    "Q",
     "also measure Q neurons drawn at random", .min = 1},
    {"pixels",           0, OPT_CHOICE, ARG(pixels),       "HOW",
     "unit (the default): centred, mean |x|^2 = 1; 255: divided by 255", pixels},
    {"every",            0, OPT_SIZE,   ARG(every),        "K",
     "measure every K epochs (default 2), and the first and last one", .min = 1},
    {"batch",            0, OPT_SIZE,   ARG(batch),        "B",
     "images in a mini-batch (default 32)", .min = 1},
    {"classes",          0, OPT_SIZE,   ARG(classes),      "C",
     "number of classes (default: the largest label + 1)", .min = 1},
    {"learning-rate",    0, OPT_DOUBLE, ARG(rate),         "R",
     "Adam's step is R/N^power (default 0.1)", .positive = 1},
    {"rate-power",       0, OPT_DOUBLE, ARG(rate_power),   "P",
     "power of the width N in the learning rate (default 1)"},
    {"hidden-power",     0, OPT_DOUBLE, ARG(hidden_power), "P",
     "hidden weights begin as N(0, 1/N^P) (default 1)"},
    {"output-power",     0, OPT_DOUBLE, ARG(output_power), "P",
     "output weights begin as N(0, 1/N^P) (default 1)"},
    {"estimator",        0, OPT_SET,    HOW(estimators),   "LIST",
     "naive,auto (the default), kv-row, kv-col, path, exact, or all", cli_estimators},
    CLI_NMAX_OPTION(HOW, "highest order (default 4, or the shortest side)"),
    CLI_PERMUTATIONS_OPTION(HOW, "average path over R random orders"),
    CLI_SIDE_OPTION(HOW),
    CLI_NO_STDERR_OPTION(HOW),
    {"checkpoint",       0, OPT_STRING, ARG(checkpoint),   "DIR",
     "store each run in DIR, and continue interrupted runs"},
    {"save-activations", 0, OPT_STRING, ARG(activations),  "DIR",
     "write the matrix Phi of each epoch to DIR, as .npy"},
    {0},
};
/* clang-format on */

/* ---- the request ---- */

static int check_args(const learn_args *a) {
    const struct {
        const char *name;
        int given;
    } needed[] = {{"images", a->images != NULL},
                  {"labels", a->labels != NULL},
                  {"test-images", a->test_images != NULL},
                  {"width", a->width.count > 0},
                  {"epochs", cli_given(&a->common, "epochs")}};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (!needed[k].given) return cli_error(EXIT_USAGE, "learn: --%s is missing", needed[k].name);
    if (a->classes > KSPEC_LEARN_MAX_CLASSES)
        return cli_error(EXIT_USAGE, "--classes: %zu exceeds %d", a->classes, (int)KSPEC_LEARN_MAX_CLASSES);
    return EXIT_DONE;
}

/* ---- output: the estimates of one matrix, by estimator ---- */

/* Finds the estimate of order n by one estimator, or NULL. Estimator 0 means the unbiased estimate with
 * the least variance. */
typedef struct {
    const kspec_estimate *e;
    double ratio_error;
} found;

static int find(const kspec_learn_moments *m, unsigned estimator, int n, found *best) {
    *best = (found){NULL, NAN};
    for (size_t k = 0; k < m->count; k++) {
        const kspec_estimate *e = m->estimates[k];
        int wanted = estimator
                         ? e->estimator == estimator
                         : e->estimator == KSPEC_ESTIMATOR_PATH || e->estimator == KSPEC_ESTIMATOR_EXACT;
        if (wanted && e->n == n && (!best->e || e->estimator > best->e->estimator))
            *best = (found){e, m->ratio_error[k]};
    }
    return best->e != NULL;
}

/* Holds the arguments of the command. The bits of `named` are the estimators that the user named. */
typedef struct {
    unsigned named;
    size_t subsample;
    int nmax;
} asked;

/* Adds an array with the estimate of each order, or null where an estimate is missing. Without a matrix
 * the function adds null instead of the array. */
static void add_array(json_t *to, const asked *w, const kspec_learn_moments *m, unsigned estimator,
                      double (*of)(const found *), const char *name, const char *suffix) {
    json_t *array = m ? json_array() : json_null();
    char key[64];
    for (int n = 1; n <= w->nmax && m; n++) {
        found x;
        json_array_append_new(array, cli_real(find(m, estimator, n, &x) ? of(&x) : NAN));
    }
    snprintf(key, sizeof key, "%s%s", name, suffix);
    json_object_set_new(to, key, array);
}

static double value_of(const found *x) { return x->e->value; }
static double error_of(const found *x) { return x->e->std_error; }
static double ratio_error_of(const found *x) { return x->ratio_error; }

static void add_estimates(json_t *to, const asked *w, const kspec_learn_moments *m, const char *suffix) {
    for (unsigned k = KSPEC_ESTIMATOR_NAIVE; k < KSPEC_ESTIMATOR_AUTO; k <<= 1) {
        const char *name = kspec_name(KSPEC_NAMES_ESTIMATOR, k);
        char error[32], ratio_error[32];
        if (!(w->named & k) && k != KSPEC_ESTIMATOR_NAIVE) continue;
        snprintf(error, sizeof error, "%s_stderr", name);
        snprintf(ratio_error, sizeof ratio_error, "%s_ratio_stderr", name);
        add_array(to, w, m, k, value_of, name, suffix);
        add_array(to, w, m, k, error_of, error, suffix);
        add_array(to, w, m, k, ratio_error_of, ratio_error, suffix);
    }
    add_array(to, w, m, 0, value_of, "unbiased", suffix);
    add_array(to, w, m, 0, error_of, "stderr", suffix);
    add_array(to, w, m, 0, ratio_error_of, "ratio_stderr", suffix);
}

static json_t *run_json(const asked *w, const kspec_learn_run *r) {
    json_t *epochs = json_array(), *by = json_array();
    for (size_t k = 0; k < r->epoch_count; k++) {
        const kspec_learn_epoch *e = r->epochs[k];
        json_t *o =
            json_pack("{s:I, s:o, s:o, s:o}", "epoch", (json_int_t)e->epoch, "loss", cli_real(e->loss),
                      "accuracy", cli_real(e->accuracy), "test_accuracy", cli_real(e->test_accuracy));
        add_estimates(o, w, e->moments, "");
        if (w->subsample) add_estimates(o, w, e->subsample, "_subsample");
        json_array_append_new(epochs, o);
    }
    for (int n = 1; n <= w->nmax; n++) {
        found x;
        int any = find(r->epochs[0]->moments, 0, n, &x);
        json_array_append_new(by, any ? json_string(kspec_name(KSPEC_NAMES_ESTIMATOR, x.e->estimator))
                                      : json_null());
    }
    return json_pack("{s:I, s:I, s:o, s:o, s:I, s:f, s:f, s:o}", "width", (json_int_t)r->width, "seed",
                     (json_int_t)r->seed, "epochs", epochs, "unbiased_by", by, "resumed",
                     (json_int_t)r->resumed, "train_seconds", r->train_seconds, "measure_seconds",
                     r->measure_seconds, "gfma_per_s", cli_real(r->fma_rate > 0 ? r->fma_rate / 1e9 : NAN));
}

typedef struct {
    const learn_args *a;
    const asked *w;
    const kspec_learn_shape *s;
    const kspec_learn_result *r;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_learn_shape *s = u->s;
    const kspec_learn_result *r = u->r;
    json_t *runs = json_array();
    for (size_t k = 0; k < r->count; k++) json_array_append_new(runs, run_json(u->w, r->runs[k]));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:f, s:I, s:I, s:I, s:i, s:I, s:o, s:f}", "train_count",
                     (json_int_t)s->train_count, "test_count", (json_int_t)s->test_count, "pixels_per_image",
                     (json_int_t)s->pixels, "classes", (json_int_t)s->classes, "probe", (json_int_t)s->probe,
                     "pixels", cli_choice_name(pixels, u->a->pixels), "scale", s->pixel_factor, "batch",
                     (json_int_t)r->batch, "every", (json_int_t)r->every, "subsample",
                     (json_int_t)u->w->subsample, "orders", u->w->nmax, "seed", (json_int_t)u->a->common.seed,
                     "runs", runs, "seconds", r->seconds);
}

/* ---- output: a table of the first and the last epoch ---- */

static void print_orders(FILE *f, const asked *w, const kspec_learn_run *r, const kspec_learn_epoch *e) {
    for (int n = 1; n <= w->nmax; n++) {
        /* The table omits m(1), which is always 1 since the features are divided by their root mean
         * square. */
        if (n == 1 && w->nmax > 1) continue;
        if (n <= 2) {
            fprintf(f, "%6zu  %4llu  %5zu  %8.4g  %8.4f", r->width, (unsigned long long)r->seed, e->epoch,
                    e->loss, e->accuracy);
            cli_cell(f, "%.4f", 8, e->test_accuracy);
        } else {
            fprintf(f, "%49s", "");
        }
        fprintf(f, "  %3d", n);
        for (int sub = 0; sub < (e->subsample ? 2 : 1); sub++) {
            const kspec_learn_moments *m = sub ? e->subsample : e->moments;
            found naive, best;
            cli_cell(f, "%.4g", 10, find(m, KSPEC_ESTIMATOR_NAIVE, n, &naive) ? naive.e->value : NAN);
            cli_cell(f, "%.4g", 10, find(m, 0, n, &best) ? best.e->value : NAN);
            cli_cell(f, "%.2g", 10, best.ratio_error);
        }
        fputc('\n', f);
    }
}

static void print_speed(FILE *f, const output *u) {
    for (size_t k = 0; k < u->r->count; k++) {
        const kspec_learn_run *run = u->r->runs[k];
        if (run->fma_rate > 0 && run->seed == u->a->common.seed)
            fprintf(f, "%swidth %zu: %.3g s of training at %.3g Gfma/s\n", k ? "" : "\n", run->width,
                    run->train_seconds, run->fma_rate / 1e9);
    }
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const kspec_learn_shape *s = u->s;
    const cli_common *c = &u->a->common;
    fprintf(f, "%zu training image%s × %zu pixel%s, %zu class%s; Φ from %zu test image%s\n\n", s->train_count,
            cli_s(s->train_count), s->pixels, cli_s(s->pixels), s->classes, s->classes == 1 ? "" : "es",
            s->probe, cli_s(s->probe));
    fprintf(f, "%s%6s  %4s  %5s  %8s  %8s  %8s  %3s  %10s  %10s  %10s", cli_bold(c), "width", "seed", "epoch",
            "loss", "accuracy", "test", "n", "naive", "unbiased", "std. error");
    if (u->w->subsample) {
        char head[40];
        snprintf(head, sizeof head, "%zu: naive", u->w->subsample);
        fprintf(f, "  %10s  %10s  %10s", head, "unbiased", "std. error");
    }
    fprintf(f, "%s\n", cli_plain(c));
    for (size_t k = 0; k < u->r->count; k++) {
        const kspec_learn_run *run = u->r->runs[k];
        print_orders(f, u->w, run, run->epochs[0]);
        if (run->epoch_count > 1) print_orders(f, u->w, run, run->epochs[run->epoch_count - 1]);
    }
    print_speed(f, u);
}

/* ---- the command ---- */

static double or_default(const learn_args *a, const char *option, double value, double usual) {
    return cli_given(&a->common, option) ? value : usual;
}

static int train(const learn_args *a, const kspec_learn_data *data, const size_t *widths,
                 const kspec_learn_opts *how) {
    learn_files files = {a, 0, NULL};
    kspec_learn_store store;
    int status = learn_store(&files, &store);
    if (status) return status;
    kspec_learn_opts o = *how;
    o.store = &store;
    kspec_learn_result *r;
    kspec_error err;
    kspec_status st = cli_team(&a->common, &o.team, &err);
    if (!st) st = kspec_learn(data, widths, a->width.count, &o, &r, &err);
    learn_store_close(&files);
    if (st) return files.failed ? cli_fail_writing(st, &err) : cli_fail(st, &err);
    asked w = {o.estimators, o.subsample, r->nmax};
    output u = {a, &w, kspec_learn_data_shape(data), r};
    status = cli_done(&a->common, print_table, to_json, &u);
    kspec_free(r);
    return status;
}

static int run(void *args) {
    learn_args *a = args;
    int status = check_args(a);
    if (status) return status;
    if (!a->how.estimators) a->how.estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_AUTO;
    size_t *widths = malloc(a->width.count * sizeof *widths);
    if (!widths) return cli_no_memory();
    for (size_t k = 0; k < a->width.count; k++) widths[k] = (size_t)a->width.at[k];
    kspec_learn_scaling scaling = {
        or_default(a, "learning-rate", a->rate, 0.1), or_default(a, "rate-power", a->rate_power, 1),
        or_default(a, "hidden-power", a->hidden_power, 1), or_default(a, "output-power", a->output_power, 1)};
    kspec_learn_opts o = {.size = sizeof o,
                          .seeds = a->seeds,
                          .seed = a->common.seed,
                          .epochs = a->epochs,
                          .every = a->every,
                          .batch = a->batch,
                          .scaling = &scaling,
                          .subsample = a->subsample,
                          .nmax = a->how.nmax,
                          .estimators = a->how.estimators,
                          .permutations = a->how.permutations,
                          .side = (kspec_side)a->how.side,
                          .no_stderr = a->how.no_stderr,
                          .threads = a->common.threads};
    kspec_learn_data *data = NULL;
    status = learn_read(a, &data);
    o.progress = cli_progress(&a->common);
    if (!status) status = train(a, data, widths, &o);
    kspec_learn_close(data);
    free(widths);
    return status;
}

const cli_command cmd_learn = {
    .name = "learn",
    .summary = "kernel moments of a network's hidden layer while it learns",
    .synopsis =
        "learn --images FILE --labels FILE --test-images FILE --width N,... --epochs E [--test-labels FILE] "
        "[--seeds K] [--subsample Q] [--pixels unit|255] [OPTIONS]",
    .description =
        "Trains ReLU networks with one hidden layer (squared loss, Adam). While they learn, it estimates "
        "the\n"
        "moments of the kernel behind the hidden layer: naively, and without the bias of its finite width.",
    .options = options,
    .args_size = sizeof(learn_args),
    .shares = 1,
    .run = run,
};

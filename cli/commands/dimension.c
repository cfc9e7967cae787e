/* kspec dimension: estimates the dimensionality of the kernel behind a matrix, with its interval. */
#include "commands/batch.h"
#include "commands/estimation.h"
#include "commands/groups.h"
#include "commands/rows.h"
#include "commands/sides.h"
#include "commands/target.h"

#include <math.h>
#include <stdlib.h>

enum { CURVE_POINTS = 12 };

typedef struct {
    cli_common common;
    int center, curve, splits, device, sampled, standardize;
    size_t population_rows, population_cols;
    const char *target, *plan;
    double planned[2];
    cli_labels labels;
    cli_group_files groups;
    cli_chunks chunks;
} dimension_args;

#define ARG(field)    offsetof(dimension_args, field)
#define GROUPS(field) offsetof(dimension_args, groups.field)

/* clang-format off */
static const cli_option options[] = {
    CLI_CENTER_OPTIONS(ARG, "rows"),
    CLI_SAMPLED_OPTIONS(ARG),
    {"curve",     0, OPT_FLAG,  ARG(curve),     NULL,
     "also estimate it from random parts with fewer rows and columns"},
    {"plan",      0, OPT_STRING, ARG(plan),     "PxQ",
     "also predict the interval that P rows and Q columns would give, such as 2000x500"},
    {"label",     0, OPT_LABEL, ARG(labels),    "NAME",
     "call the following INPUTs NAME: they are trials of one more matrix; may be repeated"},
    {"splits",    0, OPT_INT,   ARG(splits),    "R",
     "with more than two trials, average over R random splits (default 8)", .min = 1},
    {"target",    0, OPT_STRING, ARG(target),   "Y",
     "also align the kernel with labels of the rows: a column of INPUT, or a file"},
    CLI_GROUPS_OPTIONS(GROUPS),
    CLI_STANDARDIZE_OPTION(ARG),
    CLI_CHUNK_OPTION(ARG),
    CLI_CONCAT_OPTION(ARG),
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

typedef struct {
    const dimension_args *a;
    const cli_recordings *recordings;
    /* the result of each recording (data set) */
    kspec_dimension_result **r;
    const cli_target *target;
    int batch; /* 1 if the recordings are the matrices of a batch */
} output;

/* ---- JSON ---- */

static void signal_json(json_t *o, const kspec_dimension_result *r) {
    json_t *list = json_array();
    for (size_t k = 0; k < r->signal_count; k++) {
        const kspec_signal *e = r->signal_columns[k];
        json_t *one = json_object();
        cli_set_reals(one, (cli_member[]){{"share", e->share}, CLI_ERRORS("", e, ), {0}});
        json_array_append_new(list, one);
    }
    cli_set_reals(o, (cli_member[]){{"signal_share", r->signal_share},
                                    CLI_ERRORS("signal_share_", r, signal_share_),
                                    {0}});
    json_object_set_new(o, "signal_columns", list);
}

static void plan_json(json_t *o, const dimension_args *a, const kspec_dimension_result *r) {
    const cli_plan p = cli_plan_make(r, a->planned);
    json_t *plan =
        json_pack("{s:I, s:I}", "rows", (json_int_t)a->planned[0], "cols", (json_int_t)a->planned[1]);
    cli_set_reals(plan, (cli_member[]){{"stderr", p.std_error}, {"ci_low", p.low}, {"ci_high", p.high}, {0}});
    json_object_set_new(o, "plan", plan);
}

static json_t *one_json(const output *u, size_t k) {
    const kspec_dimension_result *r = u->r[k];
    json_t *curve = json_array();
    for (size_t i = 0; i < r->curve_count; i++) {
        const kspec_dimension_point *p = r->curve[i];
        json_array_append_new(curve, json_pack("{s:I, s:I, s:o, s:o}", "rows", (json_int_t)p->rows, "cols",
                                               (json_int_t)p->cols, "dimension", cli_real(p->dimension),
                                               "naive", cli_real(p->naive)));
    }
    json_t *o = json_pack("{s:I, s:I, s:I, s:b, s:I}", "rows", (json_int_t)r->P, "cols", (json_int_t)r->Q,
                          "trials", (json_int_t)r->trials, "centered", r->center > KSPEC_CENTER_NONE, "seed",
                          (json_int_t)u->a->common.seed);
    cli_set_reals(o, (cli_member[]){{"dimension", r->dimension},
                                    CLI_ERRORS("", r, ),
                                    {"rounding", r->rounding},
                                    {"row_variance", r->row_variance},
                                    {"col_variance", r->col_variance},
                                    {"naive", r->naive},
                                    {"trace", r->trace},
                                    {"trace_squared", r->trace_squared},
                                    {"second_moment", r->second_moment},
                                    {"seconds", r->seconds},
                                    {0}});
    cli_signal_keys(r->signal, r->signal_z, o);
    cli_center_key(r->center, o);
    cli_sampled_keys(u->a->sampled, u->a->population_rows, u->a->population_cols, o);
    json_object_set_new(o, "curve", curve);
    if (u->a->plan) plan_json(o, u->a, r);
    cli_target_json(o, u->target, r);
    if (r->trials > 1) signal_json(o, r);
    cli_groups_json(o, r->groups, r->col_groups, r->block);
    cli_device_keys(&r->device, o);
    if (u->a->common.nan == KSPEC_NAN_KEEP) {
        json_object_set_new(o, "missing", json_integer((json_int_t)r->missing));
        json_object_set_new(o, "cycles", cli_real(r->cycles));
    }
    return o;
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const cli_recordings *of = u->recordings;
    if (of->count == 1 && !u->batch) return one_json(u, 0);
    json_t *list = json_array();
    for (size_t k = 0; k < of->count; k++) {
        json_t *o = one_json(u, k);
        json_object_set_new(o, "label", cli_string(of->at[k].name));
        json_array_append_new(list, o);
    }
    json_t *all = json_pack("{s:o}", "results", list);
    if (u->batch) json_object_set_new(all, "batch", json_integer((json_int_t)of->count));
    return all;
}

/* ---- table ---- */

static void print_curve(FILE *f, const cli_common *c, const kspec_dimension_result *r) {
    fprintf(f, "\n%s%8s  %8s  %12s  %12s%s\n", cli_bold(c), "rows", "columns", "dimension", "of the part",
            cli_plain(c));
    for (size_t k = 0; k < r->curve_count; k++) {
        const kspec_dimension_point *p = r->curve[k];
        fprintf(f, "%8zu  %8zu", p->rows, p->cols);
        cli_cell(f, "%.4g", 12, p->dimension);
        cli_cell(f, "%.4g", 12, p->naive);
        fputc('\n', f);
    }
}

static void print_treatment(FILE *f, const dimension_args *a, const kspec_dimension_result *r,
                            int one_trial) {
    fprintf(f, "%s: %s\n", cli_center_words(r->center),
            r->center == KSPEC_CENTER_NONE   ? "the mean of each column counts as a dimension"
            : r->center == KSPEC_CENTER_COLS ? "the mean of each row takes no part"
                                             : "the mean of each column takes no part");
    cli_sampled_print(f, a->sampled, a->population_rows, a->population_cols);
    if (one_trial)
        fputs("with one trial, independent noise in the entries counts as dimensions; a repeated measurement "
              "removes it\n",
              f);
}

/* Prints the noise ceiling of all columns together, and the smallest and largest ceiling of a single
 * column. */
static void print_signal(FILE *f, const kspec_dimension_result *r) {
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < r->signal_count; k++) {
        least = fmin(least, r->signal_columns[k]->share);
        most = fmax(most, r->signal_columns[k]->share);
    }
    if (!isfinite(r->signal_share)) return;
    fputs("signal share ", f);
    cli_print_interval(f, r->signal_share, r->signal_share_ci_low, r->signal_share_ci_high);
    fprintf(f, ": this part of a trial's variance repeats; of single %s %.2g … %.2g\n",
            r->center == KSPEC_CENTER_COLS ? "rows" : "columns", least, most);
}

static void print_plan(FILE *f, const dimension_args *a, const kspec_dimension_result *r) {
    const cli_plan p = cli_plan_make(r, a->planned);
    fprintf(f, "expected from %.0f x %.0f: ", a->planned[0], a->planned[1]);
    if (isfinite(p.low) && isfinite(p.high)) {
        cli_print_interval(f, r->dimension, p.low, p.high);
        fprintf(f, ", %.2g times as wide\n", p.ratio);
    } else {
        fputs("undefined\n", f);
    }
}

static void print_one(FILE *f, const output *u) {
    const cli_common c = cli_of_recording(&u->a->common, &u->recordings->at[0]);
    const kspec_dimension_result *r = u->r[0];
    const kspec_dataset *d = u->recordings->at[0].data;
    fprintf(f, "dimension (%s) ", cli_center_words(r->center));
    if (isfinite(r->dimension))
        cli_print_interval(f, r->dimension, r->ci_low, r->ci_high);
    else
        fputs("undefined", f);
    if (isfinite(r->naive)) fprintf(f, "; of the matrix itself, biased by its size: %.4g", r->naive);
    fputs("\n\n", f);
    cli_print_shape(f, &c, d, NULL);
    cli_groups_print(f, r->groups, r->col_groups, r->block);
    if (c.nan == KSPEC_NAN_KEEP) {
        double entries = (double)d->trials * (double)d->rows * (double)d->cols;
        fprintf(f, "%zu of %.0f entries missing (%.3g%%), which leaves %.3g%% of the cycles\n", r->missing,
                entries, 100 * (double)r->missing / entries, 100 * r->cycles);
    }
    print_treatment(f, u->a, r, r->trials == 1);
    cli_signal_print(f, r->signal, r->signal_z);
    print_signal(f, r);
    cli_sides_print(f, &(cli_parts){r->row_variance, r->col_variance, 0});
    if (u->a->plan) print_plan(f, u->a, r);
    cli_device_print(f, &r->device);
    cli_target_print(f, &c, u->target, r);
    if (r->curve_count) print_curve(f, &c, r);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const cli_recordings *of = u->recordings;
    const cli_common *c = &u->a->common;
    if (of->count == 1 && !u->batch) {
        print_one(f, u);
        return;
    }
    int width = 0, single = 0;
    for (size_t k = 0; k < of->count; k++) {
        int length = cli_name_width(of->at[k].name);
        width = length > width ? length : width;
        single |= u->r[k]->trials == 1;
    }
    fprintf(f, "%s%*s  %8s  %8s  %6s  %10s    %20s  %13s%s\n", cli_bold(c), width, "", "rows", "columns",
            "trials", "dimension", "95% interval from … to", "of the matrix", cli_plain(c));
    for (size_t k = 0; k < of->count; k++) {
        const kspec_dimension_result *r = u->r[k];
        cli_print_name(f, of->at[k].name, width);
        fprintf(f, "  %8zu  %8zu  %6zu", r->P, r->Q, r->trials);
        const double error = cli_error_of(r->dimension, r->ci_low, r->ci_high);
        cli_cell_rounded(f, 10, r->dimension, cli_error_shown(r->dimension, error));
        cli_cell_rounded(f, 12, r->ci_low, cli_error_shown(r->ci_low, fabs(r->dimension - r->ci_low)));
        cli_cell_rounded(f, 10, r->ci_high, fabs(r->ci_high - r->dimension));
        cli_cell(f, "%.4g", 13, r->naive);
        fputc('\n', f);
    }
    fputc('\n', f);
    print_treatment(f, u->a, u->r[0], single);
    cli_device_print(f, &u->r[0]->device);
    for (size_t k = 0; k < of->count && u->r[k]->curve_count; k++) {
        fputc('\n', f);
        cli_print_name(f, of->at[k].name, 0);
        print_curve(f, c, u->r[k]);
    }
}

/* ---- reading ---- */

static kspec_dimension_opts asked(const dimension_args *a, const kspec_dataset *d, const cli_groups *groups,
                                  const cli_target *target) {
    const cli_common *c = &a->common;
    return (kspec_dimension_opts){.size = sizeof(kspec_dimension_opts),
                                  .center = (kspec_center)a->center,
                                  .row_trials = d->row_trials,
                                  .splits = a->splits,
                                  .curve = a->curve ? CURVE_POINTS : 0,
                                  .seed = c->seed,
                                  .threads = c->threads,
                                  .progress = cli_progress(c),
                                  .row_groups = groups->rows ? groups->rows->of : NULL,
                                  .col_groups = groups->cols ? groups->cols->of : NULL,
                                  .block = a->groups.block,
                                  .standardize = a->standardize,
                                  .pairwise = c->nan == KSPEC_NAN_KEEP,
                                  .target = target->file ? &target->values : NULL,
                                  .device = (kspec_device)a->device,
                                  .sampled = (kspec_sampled)a->sampled,
                                  .population_rows = a->population_rows,
                                  .population_cols = a->population_cols,
                                  .data_memory = d->memory};
}

static int compute(const dimension_args *a, const cli_recording *of, const cli_groups *groups,
                   const cli_target *target, int several, kspec_dimension_result **r) {
    const cli_common *c = &a->common;
    const kspec_dataset *d = of->data;
    kspec_dimension_opts opts = asked(a, d, groups, target);
    kspec_matrix *phi = cli_trials(d);
    kspec_error err = {KSPEC_E_NOMEM, "out of memory"};
    kspec_status st = phi ? cli_team(c, &opts.team, &err) : KSPEC_E_NOMEM;
    if (!st) st = kspec_dimension(phi, d->trials, &opts, r, &err);
    free(phi);
    if (!st) return EXIT_DONE;
    if (!several && d->memory) return cli_fail_of(c, d, st, &err);
    if (several) cli_error_prefix(&err, of->name);
    return cli_fail_data(st, &err);
}

/* Reads all matrices. Labels of rows and columns apply to a single matrix only. */
static int read_all(const dimension_args *a, cli_recordings *of, cli_groups *groups, cli_target *target) {
    const cli_group_files *f = &a->groups;
    if (of->count > 1 && (f->rows || f->cols || f->column || a->target))
        return cli_error(EXIT_USAGE, "--%s is for one matrix, not %zu",
                         a->target   ? "target"
                         : f->rows   ? "groups"
                         : f->column ? "groups-column"
                                     : "col-groups",
                         of->count);
    if (of->count > 1) return cli_recordings_read(&a->common, of, a->center != KSPEC_CENTER_NONE);
    cli_common one = cli_of_recording(&a->common, &of->at[0]);
    int status = cli_target_read(&one, a->target, target);
    if (!status) status = cli_read_grouped(&one, f, &of->at[0].data, groups);
    if (!status) status = cli_target_check(target, of->at[0].data, of->at[0].name);
    if (!status) cli_note_treatment(&one, NULL, a->center != KSPEC_CENTER_NONE, 0);
    return status;
}

/* Prints the dimension of the matrix whose rows an accumulator has collected. */
static int show_rows(const dimension_args *a, kspec_accumulator *rows) {
    const cli_common *c = &a->common;
    const cli_target none = {0};
    kspec_error err;
    kspec_dimension_result *r = NULL;
    kspec_dataset shape;
    cli_recording one;
    cli_recordings of;
    kspec_status st = kspec_accumulator_dimension(rows, 0, &r, &err);
    if (st) return cli_fail_data(st, &err);
    cli_rows_shape(c, rows, 0, &shape, &one);
    of = (cli_recordings){.at = &one, .count = 1};
    cli_doubts(c, NULL, r->doubts, r->doubt_count);
    const int status = cli_done(c, print_table, to_json, &(output){a, &of, &r, &none, 0});
    kspec_free(r);
    return status;
}

/* ---- in blocks of rows ---- */

static int run_chunks(const dimension_args *a) {
    const cli_common *c = &a->common;
    const char *refused = a->labels.count                ? "label"
                          : a->target                    ? "target"
                          : a->curve                     ? "curve"
                          : a->standardize               ? "standardize"
                          : a->groups.rows               ? "groups"
                          : a->groups.column             ? "groups-column"
                          : a->groups.cols               ? "col-groups"
                          : a->groups.block              ? "block"
                          : a->population_rows           ? "population-rows"
                          : a->population_cols           ? "population-cols"
                          : a->device > KSPEC_DEVICE_CPU ? "device"
                                                         : NULL;
    const kspec_accumulator_opts opts = {
        .size = sizeof opts, .center = (kspec_center)a->center, .sampled = (kspec_sampled)a->sampled};
    kspec_accumulator *rows;
    int status = cli_rows_read(c, &a->chunks, 0, refused, &opts, &rows);
    if (!status) status = show_rows(a, rows);
    kspec_accumulator_close(rows);
    return status;
}

/* ---- a batch ---- */

/* Reports each kind of doubt once, for the first matrix that raises this doubt. */
static void tell_doubts(const cli_common *c, const cli_batch *b, kspec_dimension_result *const *r) {
    for (size_t k = 0; k < b->count; k++)
        for (size_t i = 0; i < r[k]->doubt_count; i++) {
            int told = 0;
            for (size_t l = 0; l < k && !told; l++)
                for (size_t m = 0; m < r[l]->doubt_count && !told; m++)
                    told = r[l]->doubts[m]->code == r[k]->doubts[i]->code;
            if (!told) cli_doubts(c, b->at[k].name, &r[k]->doubts[i], 1);
        }
}

static int run_batch(const dimension_args *a) {
    const cli_common *c = &a->common;
    const cli_groups groups = {0};
    const cli_target target = {0};
    const char *only = a->labels.count    ? "label"
                       : a->target        ? "target"
                       : a->groups.rows   ? "groups"
                       : a->groups.column ? "groups-column"
                       : a->groups.cols   ? "col-groups"
                                          : NULL;
    if (only) return cli_error(EXIT_USAGE, "--%s and a batch cannot be combined", only);
    cli_batch b;
    kspec_dimension_result **r = NULL;
    kspec_error err;
    int status = cli_batch_read(c, NULL, (const char *const *)c->inputs, c->input_count, &b);
    cli_note_treatment(c, NULL, a->center != KSPEC_CENTER_NONE, 0);
    if (!status && !(r = calloc(b.count, sizeof *r))) status = cli_no_memory();
    if (!status) {
        kspec_dimension_opts opts = asked(a, b.data[0], &groups, &target);
        kspec_status st = cli_team(c, &opts.team, &err);
        if (!st) st = kspec_dimension_batch(b.phi, b.count, b.trials, &opts, r, &err);
        if (st) status = cli_fail_data(st, &err);
    }
    if (!status) {
        const cli_recordings of = {.at = b.at, .count = b.count};
        tell_doubts(c, &b, r);
        status = cli_done(c, print_table, to_json, &(output){a, &of, r, &target, 1});
    }
    for (size_t k = 0; k < b.count && r; k++) kspec_free(r[k]);
    free((void *)r);
    cli_batch_free(&b);
    return status;
}

static int run(void *args) {
    dimension_args *a = args;
    if (cli_hosted && cli_hosted->accumulator) return show_rows(a, cli_hosted->accumulator);
    if (cli_plan_parse(a->plan, a->planned)) return EXIT_USAGE;
    if (a->plan && (a->population_rows || a->population_cols))
        return cli_error(EXIT_USAGE, "--plan and --population-%s cannot be combined",
                         a->population_rows ? "rows" : "cols");
    cli_common *c = &a->common;
    cli_recordings of;
    cli_groups groups = {0};
    cli_target target = {0};
    kspec_dimension_result **r = NULL;
    c->on_device = a->device != KSPEC_DEVICE_CPU && !a->standardize && !a->groups.block;
    if (a->chunks.rows || a->chunks.concat) return run_chunks(a);
    if (cli_has_batch(c)) return run_batch(a);
    int status = cli_recordings_make(c, &a->labels, 0, &of);
    if (!status) status = read_all(a, &of, &groups, &target);
    if (!status && !(r = calloc(of.count, sizeof *r))) status = cli_no_memory();
    for (size_t k = 0; k < of.count && !status; k++)
        status = compute(a, &of.at[k], &groups, &target, of.count > 1, &r[k]);
    for (size_t k = 0; k < of.count && !status; k++) {
        cli_doubts_of_missing(c, of.at[k].data);
        cli_doubts(c, of.count > 1 ? of.at[k].name : NULL, r[k]->doubts, r[k]->doubt_count);
    }
    if (!status) status = cli_done(c, print_table, to_json, &(output){a, &of, r, &target, 0});
    for (size_t k = 0; k < of.count && r; k++) kspec_free(r[k]);
    free((void *)r);
    cli_groups_free(&groups);
    cli_target_free(&target);
    cli_recordings_free(&of);
    return status;
}

const cli_command cmd_dimension = {
    .name = "dimension",
    .summary = "dimensionality of the kernel behind a matrix, with its interval",
    .synopsis = "dimension [--label NAME] INPUT... [--center[=WHICH] | --no-center] [--sampled WHICH] "
                "[--curve] [--plan PxQ] "
                "[--target Y] [--splits R] [--chunk ROWS] [--concat] [OPTIONS]",
    .description =
        "How many dimensions do your data have? Rows are what you showed or sampled (images, time points,\n"
        "cells), columns what you measured (neurons, units, genes). The dimension is the participation "
        "ratio,\n"
        "which is n for n directions of equal variance. The dimension of the matrix itself grows with the\n"
        "matrix. This estimate does not, and has a 95% interval.\n"
        "    kspec dimension responses.npy                    one number\n"
        "    kspec dimension trial1.npy trial2.npy            the same rows and columns, measured twice\n"
        "    kspec dimension x.npy --axes cols,rows,trials    neurons x images x repeats in one file\n"
        "    kspec dimension x.npy --axes batch,rows,cols     a dimension for each time, layer or step\n"
        "    kspec dimension x.csv --select-cols 1-           without an index column\n"
        "INPUT is .npy, .npz:key, .h5:/path, .mat:name, idx or text. Several are trials of one matrix, "
        "unless\n"
        "--label separates them. A line of @FILE names a matrix: INPUT, or NAME and INPUTs separated by "
        "tabs.",
    .options = options,
    .args_size = sizeof(dimension_args),
    .reads_input = 1,
    .shares = 1,
    .takes_holes = 1,
    .run = run,
};

/* Reads INPUTs block by block into an accumulator. */
#include "commands/rows.h"
#include "kspec/host.h"

void cli_rows_shape(const cli_common *c, kspec_accumulator *rows, int k, kspec_dataset *shape,
                    cli_recording *one) {
    const kspec_accumulator_shape *s = kspec_accumulator_describe(rows);
    *shape =
        (kspec_dataset){.trials = 1, .rows = (size_t)s->rows, .cols = k ? s->other_features : s->features};
    *one = (cli_recording){.name = c->inputs[k], .inputs = c->inputs + k, .count = 1, .data = shape};
    json_t *note =
        json_pack("{s:o, s:[I, I], s:I}", "path", cli_string(one->name), "shape", (json_int_t)shape->rows,
                  (json_int_t)shape->cols, "omitted_rows", (json_int_t)s->omitted);
    if (!note) return; /* If memory runs out, note is NULL, which a later check reports. */
    if (k)
        json_object_set_new(c->input, "other", note);
    else
        json_object_update(c->input, note), json_decref(note);
}

static int check(const cli_common *c, const cli_chunks *how, int several, const char *refused) {
    const char *with = how->rows ? "chunk" : "concat";
    if (refused) return cli_error(EXIT_USAGE, "--%s and --%s cannot be combined", refused, with);
    if (c->checkpoint) return cli_error(EXIT_USAGE, "--checkpoint and --%s cannot be combined", with);
    if (several && c->input_count != 2)
        return cli_error(EXIT_USAGE, "--chunk compares two INPUTs, not %zu", c->input_count);
    if (!several && !how->concat && c->input_count > 1)
        return cli_error(EXIT_USAGE,
                         "--chunk: %zu INPUTs would be trials; use --concat if they are rows of one matrix",
                         c->input_count);
    return EXIT_DONE;
}

/* Reads the next block of one matrix, or of both. */
static kspec_status next(const cli_common *c, kspec_blocks *const of[2], kspec_matrix x[2], double *done,
                         kspec_error *err) {
    kspec_status st = kspec_blocks_next(of[0], &x[0], done, err);
    if (!st && of[1]) st = kspec_blocks_next(of[1], &x[1], NULL, err);
    if (st || !of[1] || x[0].rows == x[1].rows) return st;
    snprintf(err->msg, sizeof err->msg, "%.200s and %.200s have different numbers of rows", c->inputs[0],
             c->inputs[1]);
    return err->code = KSPEC_E_DATA;
}

/* Adds all blocks, after opening the accumulator with the number of columns in the first block. */
static kspec_status add_blocks(const cli_common *c, kspec_blocks *const of[2], kspec_accumulator_opts *o,
                               kspec_accumulator **rows, kspec_error *err) {
    const kspec_progress progress = cli_progress(c);
    kspec_matrix x[2] = {{0}};
    double done = 0;
    kspec_status st = next(c, of, x, &done, err);
    o->other_features = x[1].cols;
    if (!st) st = kspec_accumulator_open(x[0].cols, o, rows, err);
    while (!st && x[0].rows) {
        st = kspec_accumulator_update(*rows, &x[0], of[1] ? &x[1] : NULL, NULL, err);
        if (!st && progress.report && progress.report(progress.ctx, 0.9 * done)) {
            snprintf(err->msg, sizeof err->msg, "cancelled");
            return err->code = KSPEC_E_CANCELLED;
        }
        if (!st) st = next(c, of, x, &done, err);
    }
    return st;
}

int cli_rows_read(const cli_common *c, const cli_chunks *how, int several, const char *refused,
                  const kspec_accumulator_opts *opts, kspec_accumulator **out) {
    kspec_blocks *of[2] = {NULL, NULL};
    kspec_error err;
    const kspec_read_opts read = {.size = sizeof read,
                                  .axes = c->axes,
                                  .select_rows = c->select_rows,
                                  .select_cols = c->select_cols,
                                  .nan = (kspec_nan)c->nan,
                                  .fill = c->fill.at,
                                  .fill_count = c->fill.count};
    kspec_accumulator_opts o = *opts;
    kspec_team *team = NULL;
    *out = NULL;
    int status = check(c, how, several, refused);
    if (status) return status;
    kspec_status st = cli_team(c, &team, &err);
    if (!st && team)
        return cli_error(EXIT_USAGE, "mpirun and --%s cannot be combined", how->rows ? "chunk" : "concat");
    for (int k = 0; k <= several && !st; k++)
        st = kspec_blocks_open(c->inputs + k, several ? 1 : c->input_count, &read, how->rows, &of[k], &err);
    o.omit_nan = c->nan == KSPEC_NAN_OMIT_ROWS;
    o.seed = c->seed, o.threads = c->threads;
    if (!o.stream) o.stream = 1; /* with this seed every run samples the same rows */
    if (!st) st = add_blocks(c, of, &o, out, &err);
    kspec_blocks_close(of[0]), kspec_blocks_close(of[1]);
    if (!st) return EXIT_DONE;
    kspec_accumulator_close(*out);
    *out = NULL;
    return cli_fail_data(st, &err);
}

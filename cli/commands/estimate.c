/* kspec estimate: estimates any product of matrix entries, written as in einsum, without bias. */
#include "commands/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    const char *center, *complete, *population, *same_cols;
    int no_stderr, explain, leave_one_out, splits, device;
    cli_labels labels;
    cli_group_files groups;
} estimate_args;

#define ARG(field)    offsetof(estimate_args, field)
#define GROUPS(field) offsetof(estimate_args, groups.field)

/* clang-format off */
static const cli_choice sides[] = {{"rows", 1}, {"cols", 2}, {"both", 3}, {0}};

static const cli_option options[] = {
    {"center",        0, OPT_STRING, ARG(center),        "AXES",
     "remove the mean over these axes, given by names of indices, or rows, cols or both", sides,
     .bare = "rows"},
    {"complete",      0, OPT_STRING, ARG(complete),      "AXES",
     "these axes are complete populations: indices may coincide, and the jackknife leaves none out"},
    {"population",    0, OPT_STRING, ARG(population),    "AXIS=N,...",
     "these axes are samples of N members, drawn without replacement"},
    {"same-cols",     0, OPT_STRING, ARG(same_cols),     "NAMES",
     "these matrices have the same features in their columns: X,Y"},
    {"groups",        0, OPT_STRING, GROUPS(rows),       "FILE",
     "labels of the rows, one per line; no term contains two rows with one label, which may be dependent"},
    {"groups-column", 0, OPT_STRING, GROUPS(column),     "NAME",
     "take the labels of the rows from this column of the table, which is then not a feature"},
    {"label",         0, OPT_LABEL,  ARG(labels),        "NAME",
     "the following INPUTs are trials of the matrix NAME; may be repeated"},
    {"splits",        0, OPT_INT,    ARG(splits),        "R",
     "with more than two trials, average over R random splits (default 8)", .min = 1},
    {"no-stderr",     0, OPT_FLAG,   ARG(no_stderr),     NULL, "no error bars"},
    {"leave-one-out", 0, OPT_FLAG,   ARG(leave_one_out), NULL,
     "add to the JSON object the estimates that leave out each index of each axis"},
    {"explain",       0, OPT_FLAG,   ARG(explain),       NULL,
     "print the plan: its sums and matrix products"},
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

typedef struct {
    const estimate_args *a;
    const char *expression;
    const kspec_unbiased_result *r;
} output;

/* ---- JSON and table ---- */

static json_t *axes_json(const output *u) {
    json_t *list = json_array();
    for (size_t k = 0; k < u->r->axis_count; k++) {
        const kspec_unbiased_axis *x = u->r->axes[k];
        json_t *o = json_pack("{s:s, s:s, s:I, s:b}", "name", x->name, "sides", x->sides, "size",
                              (json_int_t)x->size, "centered", x->centered);
        if (x->groups) json_object_set_new(o, "groups", json_integer((json_int_t)x->groups));
        cli_set_reals(o, (cli_member[]){{"population", x->population}, {"stderr", x->std_error}, {0}});
        if (u->a->leave_one_out)
            json_object_set_new(o, "without",
                                x->without ? cli_reals(x->without, x->groups ? x->groups : x->size)
                                           : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *to_json(const void *result) {
    const output *u = result;
    const kspec_unbiased_result *r = u->r;
    json_t *o = json_pack("{s:s}", "expression", u->expression);
    cli_set_reals(o,
                  (cli_member[]){{"value", r->value}, CLI_ERRORS("", r, ), {"rounding", r->rounding}, {0}});
    json_object_set_new(o, "axes", axes_json(u));
    json_object_set_new(o, "graphs", json_integer((json_int_t)r->graphs));
    json_object_set_new(o, "products", json_integer((json_int_t)r->products));
    json_object_set_new(o, "all_products", json_integer((json_int_t)r->all_products));
    json_object_set_new(o, "bytes", json_integer((json_int_t)r->bytes));
    json_object_set_new(o, "splits", json_integer((json_int_t)r->splits));
    json_object_set_new(o, "seed", json_integer((json_int_t)u->a->common.seed));
    if (r->plan) json_object_set_new(o, "plan", cli_string(r->plan));
    cli_set_reals(o, (cli_member[]){
                         {"work", r->work}, {"planning_seconds", r->planning}, {"seconds", r->seconds}, {0}});
    cli_device_keys(&r->device, o);
    return o;
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    const kspec_unbiased_result *r = u->r;
    const cli_common *c = &u->a->common;
    fprintf(f, "%s%s%s\n\n", cli_bold(c), u->expression, cli_plain(c));
    const cli_interval in = cli_round_interval(r->value, r->ci_low, r->ci_high);
    cli_number value;
    fprintf(f, "estimate   %s\n", cli_rounded(&value, r->value, r->std_error));
    if (isfinite(r->std_error)) {
        fprintf(f, "std. error %.2g\n", r->std_error);
        fprintf(f, "95%% interval %s … %s\n", in.low.text, in.high.text);
    }
    int sampled = 0;
    for (size_t k = 0; k < r->axis_count; k++) sampled |= r->axes[k]->population > (double)r->axes[k]->size;
    if (!u->a->no_stderr && !isfinite(r->std_error))
        fprintf(f, "no error bar: %s\n",
                sampled ? "too few indices would be left without one of them" : "all axes are complete");
    fputc('\n', f);
    for (size_t k = 0; k < r->axis_count; k++) {
        const kspec_unbiased_axis *x = r->axes[k];
        fprintf(f, "%zu %s%s", x->size, x->name, x->centered ? ", centred" : "");
        if (x->groups) fprintf(f, ", in %zu groups", x->groups);
        if (x->population <= (double)x->size)
            fputs(", complete", f);
        else if (isfinite(x->population))
            fprintf(f, ", of %.0f", x->population);
        if (isfinite(x->std_error)) fprintf(f, ": std. error %.2g", x->std_error);
        fputc('\n', f);
    }
    fprintf(f, "%zu graph%s, %zu matrix product%s", r->graphs, cli_s(r->graphs), r->products,
            cli_s(r->products));
    if (r->all_products > r->products) fprintf(f, ", %zu with error bars", r->all_products);
    fprintf(f, "; %.3g MB\n", (double)r->bytes / 1e6);
    if (r->plan) fprintf(f, "\n%s", r->plan);
    cli_device_print(f, &r->device);
}

/* ---- matrices ---- */

/* Holds the arguments NAME=INPUT as labels and inputs. Inputs with the same NAME are trials of one
 * matrix. `names` owns copies of the labels. */
typedef struct {
    cli_common c;
    cli_labels labels;
    char **names;
    size_t count;
} named;

static void named_free(named *n) {
    for (size_t k = 0; k < n->count; k++) free(n->names[k]);
    free(n->names);
    free((void *)n->labels.name);
    free(n->labels.from);
    free((void *)n->c.inputs);
}

/* Returns the end of NAME, or NULL if the word does not have the form NAME=INPUT. */
static const char *end_of_name(const char *word) {
    size_t n = 0;
    while ((word[n] >= 'a' && word[n] <= 'z') || (word[n] >= 'A' && word[n] <= 'Z') || word[n] == '_' ||
           (n && word[n] >= '0' && word[n] <= '9'))
        n++;
    return n && word[n] == '=' && word[n + 1] ? word + n : NULL;
}

/* Converts the words of the command line after the expression to labels and inputs. */
static int name_inputs(const estimate_args *a, named *n) {
    const size_t count = a->common.input_count - 1;
    *n = (named){.c = a->common};
    n->c.inputs = calloc(count + 1, sizeof *n->c.inputs);
    n->c.input_count = count;
    n->names = calloc(count + 1, sizeof *n->names);
    n->labels.name = calloc(count + a->labels.count + 1, sizeof *n->labels.name);
    n->labels.from = calloc(count + a->labels.count + 1, sizeof *n->labels.from);
    if (!n->c.inputs || !n->names || !n->labels.name || !n->labels.from) return cli_no_memory();
    for (size_t k = 0; k < count; k++) n->c.inputs[k] = a->common.inputs[k + 1];
    for (size_t k = 0; k < a->labels.count; k++) {
        if (!a->labels.from[k])
            return cli_error(EXIT_USAGE, "--label %s: the expression comes first", a->labels.name[k]);
        n->labels.name[k] = a->labels.name[k];
        n->labels.from[k] = a->labels.from[k] - 1;
    }
    n->labels.count = a->labels.count;
    if (a->labels.count) return EXIT_DONE;
    for (size_t k = 0; k < count; k++) {
        const char *word = n->c.inputs[k], *end = end_of_name(word);
        if (!end) return cli_error(EXIT_USAGE, "'%s' is not NAME=INPUT, such as X=x.npy", word);
        char *name = n->names[n->count] = malloc((size_t)(end - word) + 1);
        if (!name) return cli_no_memory();
        n->count++;
        memcpy(name, word, (size_t)(end - word));
        name[end - word] = 0;
        n->c.inputs[k] = end + 1;
        if (k && strcmp(name, n->names[k - 1]) == 0) continue;
        n->labels.name[n->labels.count] = name;
        n->labels.from[n->labels.count++] = k;
    }
    return EXIT_DONE;
}

/* Reads all matrices, and the labels of the rows that they share. */
static int read_all(const estimate_args *a, const cli_common *c, cli_recordings *of, cli_groups *groups) {
    const cli_group_files *f = &a->groups;
    if (of->count == 1 && (f->rows || f->column)) {
        cli_common one = cli_of_recording(c, &of->at[0]);
        return cli_read_grouped(&one, f, &of->at[0].data, groups);
    }
    if (f->column)
        return cli_error(
            EXIT_USAGE, "--groups-column is for one matrix, not %zu; give the labels by --groups", of->count);
    int status = cli_recordings_read(c, of, 0);
    if (!status && f->rows) status = cli_read_row_groups(c, f->rows, of->at[0].data->rows, &groups->rows);
    return status;
}

/* Refuses matrices that share an axis if missing values would remove different entries of this axis from
 * each. */
static int check_paired(const cli_recordings *of, const kspec_unbiased_result *r) {
    for (size_t x = 0; x < r->axis_count; x++)
        for (size_t k = 0; k < of->count && strchr(r->axes[x]->sides, ' '); k++) {
            int shared[2] = {0};
            for (const char *at = r->axes[x]->sides; at; at = strchr(at, ' ')) {
                at += *at == ' ';
                const size_t length = strlen(of->at[k].name);
                if (strncmp(at, of->at[k].name, length) == 0 && at[length] == ':')
                    shared[at[length + 1] == 'c'] = 1;
            }
            const int status = cli_check_paired(&of->at[k], shared[0], shared[1]);
            if (status) return status;
        }
    return EXIT_DONE;
}

static int estimate(const estimate_args *a, const char *expression, cli_recordings *of,
                    const cli_groups *groups) {
    const cli_common *c = &a->common;
    kspec_operand *operands = calloc(of->count, sizeof *operands);
    kspec_matrix **views = calloc(of->count, sizeof *views);
    int status = operands && views ? EXIT_DONE : cli_no_memory();
    for (size_t k = 0; k < of->count && !status; k++) {
        const kspec_dataset *d = of->at[k].data;
        if (d->row_trials)
            status = cli_error(EXIT_INPUT,
                               "%s has rows with different numbers of trials; estimate takes the same "
                               "number of each",
                               of->at[k].name);
        else if (!(views[k] = cli_trials(d)))
            status = cli_no_memory();
        else
            operands[k] = (kspec_operand){of->at[k].name, views[k], d->trials};
    }
    const kspec_unbiased_opts opts = {.size = sizeof opts,
                                      .center = a->center,
                                      .complete = a->complete,
                                      .population = a->population,
                                      .same_cols = a->same_cols,
                                      .row_groups = groups->rows ? groups->rows->of : NULL,
                                      .row_group_count = groups->rows ? groups->rows->count : 0,
                                      .no_stderr = a->no_stderr,
                                      .explain = a->explain,
                                      .splits = a->splits,
                                      .seed = c->seed,
                                      .threads = c->threads,
                                      .progress = cli_progress(c),
                                      .device = (kspec_device)a->device};
    kspec_unbiased_result *r = NULL;
    kspec_error err;
    if (!status) {
        kspec_status st = kspec_unbiased(expression, operands, of->count, &opts, &r, &err);
        status = st ? cli_fail(st, &err) : check_paired(of, r);
    }
    if (!status) {
        const output u = {a, expression, r};
        cli_doubts(c, NULL, r->doubts, r->doubt_count);
        status = cli_done(c, print_table, to_json, &u);
    }
    kspec_free(r);
    for (size_t k = 0; k < of->count && views; k++) free(views[k]);
    free((void *)views);
    free(operands);
    return status;
}

static int run(void *args) {
    const estimate_args *a = args;
    named n = {0};
    cli_recordings of = {0};
    cli_groups groups = {0};
    if (a->common.input_count < 2)
        return cli_error(EXIT_USAGE, "estimate takes an expression and matrices: \"X[i,a] X[j,a]\" X=x.npy");
    int status = name_inputs(a, &n);
    if (!status) status = cli_recordings_make(&n.c, &n.labels, 1, &of);
    if (!status) status = read_all(a, &n.c, &of, &groups);
    if (!status) status = estimate(a, a->common.inputs[0], &of, &groups);
    cli_groups_free(&groups);
    cli_recordings_free(&of);
    named_free(&n);
    return status;
}

const cli_command cmd_estimate = {
    .name = "estimate",
    .summary = "an unbiased estimate of any product of matrix entries, written as in einsum",
    .synopsis =
        "estimate EXPRESSION NAME=INPUT... [--center[=AXES]] [--complete AXES] [--population AXIS=N,...] "
        "[--same-cols NAMES] [--groups FILE] [--splits R] [--no-stderr] [--explain] [OPTIONS]\n"
        "estimate EXPRESSION --label NAME INPUT... [--label NAME INPUT...] [OPTIONS]",
    .description =
        "Estimates the mean of a product of matrix entries such as \"X[i,a] X[j,a] X[j,b] X[i,b]\" over all\n"
        "tuples of distinct rows and columns, with its standard error and interval. Equal names are the "
        "same\n"
        "index; different names on one axis are distinct. Sums such as \"X[i,a] X[i,a] - 2 X[i,a] Y[i,b]\" "
        "share\n"
        "their plan. Several INPUTs of one NAME are trials: X1 and X2 then are two halves of them.",
    .options = options,
    .args_size = sizeof(estimate_args),
    .reads_input = 1,
    .no_picture = 1,
    .run = run,
};

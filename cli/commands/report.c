/* kspec report: runs several commands on one matrix and writes a page about it. */
#include "commands/report.h"
#include "commands/estimation.h"
#include "commands/groups.h"
#include "plot/plot.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* For a matrix with more entries than this number, the report ends at order 3 unless -n asks for more. At
 * 1000 × 4096 a centred moment of order 4 with its error takes 15 seconds on one core; order 3 takes 3. */
static const double LARGE = 1e6;

typedef struct {
    cli_common common;
    int center, nmax, sampled, standardize;
    size_t population_rows, population_cols;
    cli_group_files groups;
} report_args;

#define ARG(field)    offsetof(report_args, field)
#define GROUPS(field) offsetof(report_args, groups.field)

/* clang-format off */
static const cli_option options[] = {
    CLI_CENTER_OPTIONS(ARG, "rows"),
    CLI_SAMPLED_OPTIONS(ARG),
    {"n", 'n', OPT_INT, ARG(nmax), "NMAX",
     "highest order of the moments (default: as in kspec moments, but 3 for more than a million entries)",
     .min = 1},
    CLI_GROUPS_OPTIONS(GROUPS),
    CLI_STANDARDIZE_OPTION(ARG),
    {0},
};

static const struct {
    const char *command;
    /* Words for the command line of this part: `words` for a matrix that can be split, `whole` for a
     * matrix with groups or missing entries. */
    const char *words[2], *whole[2];
    /* the value of --center that this part uses by default */
    kspec_center usual;
    int takes_groups;
} parts[REPORT_PARTS] = {
    {"dimension", {"--curve"},                   {0},                     KSPEC_CENTER_ROWS, 1},
    {"moments",   {"--estimator", "auto,naive"}, {"--estimator", "auto"}, KSPEC_CENTER_NONE, 1},
    /* order 2 is enough here, since the part `moments` contains the higher orders */
    {"spectrum",  {"-n", "2"},                   {"-n", "2"},             KSPEC_CENTER_ROWS, 0},
};
/* clang-format on */

/* ---- the commands ---- */

typedef struct {
    const char **at;
    size_t count;
} words;

static void add(words *w, const char *option, const char *value) {
    if (!value) return;
    if (option) w->at[w->count++] = option;
    w->at[w->count++] = value;
}

/* Returns the columns that the other parts used. The part needs this list if it does not know which
 * column holds labels. */
static const char *features(const report_args *a, const report *r) {
    const json_t *in = json_object_get(r->part[REPORT_DIMENSION].object, "input");
    return a->groups.column ? plot_word(in, "select_cols", NULL) : a->common.select_cols;
}

/* Holds the numbers of a command line as text. */
typedef struct {
    char seed[24], threads[16], nmax[16], center[16], population[2][24], fill[512], block[24];
} digits;

/* Builds the command line of a part: first the words of this part, then the options and INPUTs of the
 * report. */
static void command_line(const report_args *a, const report *r, int k, digits *text, words *w) {
    const cli_common *c = &a->common;
    int whole =
        a->groups.rows || a->groups.cols || a->groups.column || a->groups.block || c->nan == KSPEC_NAN_KEEP;
    const char *const *own = whole ? parts[k].whole : parts[k].words;
    add(w, NULL, parts[k].command);
    add(w, NULL, "--json"); /* the report also needs numbers that only the JSON object contains */
    for (int i = 0; i < 2; i++) add(w, NULL, own[i]);
    const int center = a->center ? a->center : KSPEC_CENTER_ROWS;
    snprintf(text->center, sizeof text->center, "--center=%s", cli_choice_name(cli_centers, center));
    add(w, NULL,
        center == (int)parts[k].usual ? NULL
        : center == KSPEC_CENTER_ROWS ? "--center"
        : center == KSPEC_CENTER_NONE ? "--no-center"
                                      : text->center);
    add(w, "--sampled", a->sampled ? cli_choice_name(cli_sampled_sides, a->sampled) : NULL);
    for (int side = 0; side < 2; side++) {
        const size_t size = side ? a->population_cols : a->population_rows;
        snprintf(text->population[side], sizeof text->population[side], "%zu", size);
        add(w, side ? "--population-cols" : "--population-rows", size ? text->population[side] : NULL);
    }
    add(w, "--select-cols", parts[k].takes_groups ? c->select_cols : features(a, r));
    add(w, "--select-rows", c->select_rows);
    add(w, "--axes", c->axes);
    add(w, "--nan", cli_given(c, "nan") ? cli_choice_name(cli_nan_policies, c->nan) : NULL);
    size_t length = 0;
    for (size_t i = 0; i < c->fill.count && length < sizeof text->fill; i++)
        length += (size_t)snprintf(text->fill + length, sizeof text->fill - length, "%s%.17g", i ? "," : "",
                                   c->fill.at[i]);
    add(w, "--fill", c->fill.count ? text->fill : NULL);
    snprintf(text->seed, sizeof text->seed, "%llu", (unsigned long long)c->seed);
    add(w, "--seed", cli_given(c, "seed") ? text->seed : NULL);
    snprintf(text->threads, sizeof text->threads, "%d", c->threads);
    add(w, "--threads", cli_given(c, "threads") ? text->threads : NULL);
    snprintf(text->nmax, sizeof text->nmax, "%d", r->fewer_moments ? 3 : a->nmax);
    add(w, "-n", k == REPORT_MOMENTS && (a->nmax || r->fewer_moments) ? text->nmax : NULL);
    add(w, "--checkpoint", c->checkpoint);
    add(w, NULL, a->standardize ? "--standardize" : NULL);
    if (parts[k].takes_groups) {
        add(w, "--groups", a->groups.rows);
        add(w, "--groups-column", a->groups.column);
        add(w, "--col-groups", a->groups.cols);
        snprintf(text->block, sizeof text->block, "%zu", a->groups.block);
        add(w, "--block",
            a->groups.block == KSPEC_BLOCK_AUTO ? "auto"
            : a->groups.block                   ? text->block
                                                : NULL);
    }
    add(w, NULL, "--");
    for (size_t i = 0; i < c->input_count; i++) add(w, NULL, c->inputs[i]);
}

/* Rejects option lists that are too long for a command line. */
static int check_fill(const cli_common *c) {
    enum { MOST = 20 };
    return c->fill.count > MOST
               ? cli_error(EXIT_USAGE, "--fill: %zu values, the report takes %d", c->fill.count, MOST)
               : EXIT_DONE;
}

static int run_part(const report_args *a, report *r, int k) {
    const cli_common *c = &a->common;
    digits text = {0};
    words w = {calloc(48 + c->input_count, sizeof *w.at), 0};
    if (!w.at) return cli_no_memory();
    command_line(a, r, k, &text, &w);
    report_part *p = &r->part[k];
    int status = cli_run_inner(c, w.count, w.at, &p->object, &p->why);
    free((void *)w.at);
    /* The first part reads the data. If it fails, the report is empty. */
    if (status && (k == REPORT_DIMENSION || !p->why || status == EXIT_INTERRUPTED))
        return cli_error(status, "%s", p->why ? p->why : "out of memory");
    if (k == REPORT_DIMENSION && !a->nmax && a->center != KSPEC_CENTER_NONE)
        r->fewer_moments = plot_number(p->object, "rows") * plot_number(p->object, "cols") > LARGE;
    return EXIT_DONE;
}

/* ---- pictures ---- */

static int draw(report *r) {
    if (plot_has_gnuplot() == 0) {
        cli_warn(r->common,
                 "gnuplot is not installed (apt-get install gnuplot-nox): the report has no pictures");
        return EXIT_DONE;
    }
    int status = EXIT_DONE;
    for (int k = 0; k < REPORT_PARTS && !status; k++) {
        report_part *p = &r->part[k];
        char prefix[8];
        if (!p->object) continue;
        snprintf(prefix, sizeof prefix, "p%d-", k);
        const plot_source s = {p->object, parts[k].command, NULL, NULL};
        status = plot_inline(&s, prefix, &p->svg, &p->svg_size);
    }
    return status;
}

/* ---- the report ---- */

static json_t *to_json(const void *result) {
    const report *r = result;
    json_t *o = json_pack("{s:o, s:s}", "output", cli_string(r->common->output ? r->common->output : ""),
                          "time", r->time);
    for (int k = 0; k < REPORT_PARTS; k++)
        if (r->part[k].object)
            json_object_set(o, parts[k].command, r->part[k].object);
        else
            json_object_set_new(o, parts[k].command, json_null());
    return o;
}

/*
 * Takes the time from SOURCE_DATE_EPOCH if set, like other tools, so that a page can be reproduced byte by
 * byte.
 */
static void set_time(report *r) {
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    double seconds;
    time_t t = fixed && cli_parse_double(fixed, &seconds) && seconds >= 0 && seconds < 1e11 ? (time_t)seconds
                                                                                            : time(NULL);
    struct tm utc;
    if (!gmtime_r(&t, &utc) || !strftime(r->time, sizeof r->time, "%Y-%m-%d %H:%M UTC", &utc)) r->time[0] = 0;
}

static int write_page(const report *r) {
    cli_text page;
    kspec_error err;
    FILE *to = cli_text_open(&page);
    if (to) report_page(to, r);
    if (!cli_text_close(&page) || cli_memory_failed()) {
        free(page.data);
        return cli_error(EXIT_FAILED, "out of memory for the page");
    }
    kspec_status st = kspec_write_text(r->common->output, page.data, page.size, &err);
    free(page.data);
    return st ? cli_fail_writing(st, &err) : EXIT_DONE;
}

static int check_output(const cli_common *c) {
    const char *dot = c->output ? strrchr(c->output, '.') : NULL;
    if (!c->output) return cli_error(EXIT_USAGE, "report: -o FILE is missing (.html)");
    if (strcmp(c->output, "-") != 0 && (!dot || (strcmp(dot, ".html") != 0 && strcmp(dot, ".htm") != 0)))
        return cli_error(EXIT_USAGE, "-o: '%s' must end in .html", c->output);
    if (strcmp(c->output, "-") == 0 && c->json)
        return cli_error(EXIT_USAGE, "report: --json and -o - would both write to standard output");
    return EXIT_DONE;
}

static int run(void *args) {
    report_args *a = args;
    cli_common *c = &a->common;
    const int writes = cli_rank() == 0; /* Only rank 0 writes the page. */
    int status = writes ? check_output(c) : EXIT_DONE;
    if (!status) status = check_fill(c);
    if (status) return status;
    report r = {.common = c, .grouped = a->groups.rows || a->groups.column || a->groups.block};
    set_time(&r);
    for (int k = 0; k < REPORT_PARTS && !status; k++) status = run_part(a, &r, k);
    if (!status) json_object_update(c->input, json_object_get(r.part[REPORT_DIMENSION].object, "input"));
    for (int k = 0; k < REPORT_PARTS && !status; k++) cli_doubts_of(c, NULL, r.part[k].object);
    if (!status && writes) status = draw(&r);
    if (!status && writes) status = write_page(&r);
    if (!status) status = cli_done(c, NULL, to_json, &r);
    for (int k = 0; k < REPORT_PARTS; k++) {
        json_decref(r.part[k].object);
        free(r.part[k].why);
        free(r.part[k].svg);
    }
    return status;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "write a page with dimension, moments and eigenvalues, and how far to trust them",
    .synopsis =
        "report INPUT... -o FILE.html [--center[=WHICH] | --no-center] [--sampled WHICH] [-n NMAX] [OPTIONS]",
    .description = "Runs dimension, moments and spectrum on a matrix (rows: inputs, columns: features; "
                   "several INPUTs are\n"
                   "trials of one matrix). It writes their results and pictures to one HTML file.",
    .options = options,
    .args_size = sizeof(report_args),
    .reads_input = 1,
    .takes_holes = 1,
    .shares = 1,
    .writes_output = 1,
    .no_picture = 1,
    .run = run,
};

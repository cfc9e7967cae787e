/* kspec plot: draws the JSON results of other commands. */
#include "commands/estimation.h"
#include "plot/plot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
    const char *title, *size;
    int log, linear;
} plot_args;

#define ARG(field) offsetof(plot_args, field)

enum { LOG_X = 1, LOG_Y = 2 };

/* clang-format off */
static const cli_choice axes[] = {{"x", LOG_X}, {"y", LOG_Y}, {"xy", LOG_X | LOG_Y}, {0}};

static const cli_option options[] = {
    {"title",  0, OPT_STRING, ARG(title),  "TEXT",
     "title of the picture (default: made from the results)"},
    {"size",   0, OPT_STRING, ARG(size),   "WxH",
     "width and height in pixels (pdf: 96 pixels per inch)"},
    {"log",    0, OPT_CHOICE, ARG(log),    "AXES",
     "make these axes logarithmic: x, y or xy (default: axes whose values span decades)", axes},
    {"linear", 0, OPT_FLAG,   ARG(linear), NULL,
     "make the other axes, or all of them, linear"},
    {0},
};
/* clang-format on */

/* ---- options ---- */

static int parse_size(const char *text, plot_look *look) {
    char *end = NULL;
    unsigned long w = 0, h = 0;
    if (isdigit((unsigned char)*text)) w = strtoul(text, &end, 10);
    if (end && (*end == 'x' || *end == 'X') && isdigit((unsigned char)end[1])) h = strtoul(end + 1, &end, 10);
    if (!end || *end || w < 100 || h < 100 || w > 10000 || h > 10000)
        return cli_error(EXIT_USAGE, "--size: '%s' is not WIDTHxHEIGHT with numbers from 100 to 10000", text);
    look->width = w, look->height = h;
    return EXIT_DONE;
}

static int make_look(const plot_args *a, plot_look *look) {
    plot_scale others = a->linear ? PLOT_LINEAR : PLOT_AUTO;
    *look = (plot_look){.title = a->title, .x = others, .y = others};
    if (a->log & LOG_X) look->x = PLOT_LOG;
    if (a->log & LOG_Y) look->y = PLOT_LOG;
    return a->size ? parse_size(a->size, look) : EXIT_DONE;
}

/* ---- results ---- */

static int load(const char *path, json_t **object) {
    json_error_t where;
    int piped = strcmp(path, "-") == 0;
    FILE *f = piped ? stdin : fopen(path, "rb");
    if (!f) return cli_error(EXIT_INPUT, "cannot open %s: %s", path, strerror(errno));
    *object = cli_json_load(f, &where);
    int failed = ferror(f), why = errno;
    if (!piped) fclose(f);
    if (failed) return cli_error(EXIT_INPUT, "cannot read %s: %s", path, strerror(why));
    if (cli_memory_failed()) return cli_no_memory();
    if (!*object) return cli_error(EXIT_INPUT, "%s is not JSON: line %d: %s", path, where.line, where.text);
    if (!json_is_object(*object))
        return cli_error(EXIT_INPUT, "%s is not a JSON object, such as kspec --json writes", path);
    return EXIT_DONE;
}

/* Returns a name for a result: "runs/a.json" becomes "a", or stays the whole path if `whole` is 1. */
static char *name_of(const char *path, int whole) {
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash && !whole ? slash + 1 : path);
    size_t n = name ? strlen(name) : 0;
    if (!whole && n > 5 && strcmp(name + n - 5, ".json") == 0) name[n - 5] = 0;
    return name;
}

/* Gives names to several results of the same command, so that a reader can distinguish them. */
static int name_sources(plot_source *s, size_t count) {
    for (int whole = 0; whole < 2; whole++) {
        int ambiguous = 0;
        for (size_t i = 0; i < count; i++) {
            size_t like = 0;
            for (size_t k = 0; k < count; k++)
                like += s[k].command && s[i].command && strcmp(s[k].command, s[i].command) == 0;
            free(s[i].name);
            s[i].name = like > 1 ? name_of(s[i].path, whole) : NULL;
            if (like > 1 && !s[i].name) return cli_no_memory();
            for (size_t k = 0; k < i; k++)
                ambiguous |= s[k].name && s[i].name && strcmp(s[k].name, s[i].name) == 0;
        }
        if (!ambiguous) break;
    }
    return EXIT_DONE;
}

/* Warns if one figure has centred eigenvalues and the eigenvalues of kspec theory, which are never
 * centred. */
static void doubt_truth(const cli_common *c, const plot_source *s, size_t count) {
    kspec_doubt d = {.code = KSPEC_DOUBT_TRUTH_CENTER, .severity = KSPEC_SEVERITY_WARNING};
    int truth = 0;
    for (size_t i = 0; i < count; i++) {
        truth |= strcmp(s[i].command, "theory") == 0;
        if (strcmp(s[i].command, "spectrum") == 0 && cli_center_of(s[i].json) > KSPEC_CENTER_NONE)
            d.what = cli_center_words(cli_center_of(s[i].json));
    }
    if (truth && d.what) cli_doubts(c, NULL, &(kspec_doubt *){&d}, 1);
}

/* Returns a copy of the figure that was drawn. */
static json_t *to_json(const void *result) { return json_deep_copy(result); }

/* ---- the command ---- */

static int run(void *args) {
    plot_args *a = args;
    plot_look look;
    size_t count = a->common.input_count;
    int status = make_look(a, &look);
    if (status) return status;
    if (!a->common.output && !a->common.json)
        return cli_error(EXIT_USAGE, "plot: -o FILE is missing (.svg, .png, .pdf, .html or .gp)");
    plot_source *s = calloc(count, sizeof *s);
    json_t **objects = calloc(count, sizeof *objects), *figure = NULL;
    if (!s || !objects) status = cli_no_memory();
    for (size_t i = 0; i < count && !status; i++) {
        status = load(a->common.inputs[i], &objects[i]);
        s[i] = (plot_source){objects[i], plot_word(objects[i], "command", NULL), a->common.inputs[i], NULL};
    }
    if (!status) status = name_sources(s, count);
    if (!status) status = plot_write(a->common.output, s, count, &look, a->common.json ? &figure : NULL);
    if (!status) {
        cli_note_input(&a->common, NULL, a->common.inputs, count, NULL, NULL);
        doubt_truth(&a->common, s, count);
        status = cli_done(&a->common, NULL, to_json, figure);
    }
    json_decref(figure);
    for (size_t i = 0; i < count && s && objects; i++) {
        free(s[i].name);
        json_decref(objects[i]);
    }
    free(s);
    free((void *)objects);
    return status;
}

const cli_command cmd_plot = {
    .name = "plot",
    .summary = "a picture of the results of the other commands",
    .synopsis = "plot RESULT.json... -o FILE [--title TEXT] [--size WxH] [--log AXES] [--linear] [OPTIONS]",
    .description = "Draws results that other commands wrote with --json. gnuplot makes .svg, .png and .pdf. "
                   "An .html page holds\n"
                   "the picture, its numbers and the command. .gp is gnuplot's script. Several results share "
                   "one picture.",
    .options = options,
    .args_size = sizeof(plot_args),
    .takes_files = 1,
    .writes_output = 1,
    .no_picture = 1,
    .run = run,
};

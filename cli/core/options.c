/* Parses a command line into a command's arguments, and defines the options that all commands share. */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

#define COMMON(field) offsetof(cli_common, field)

/* clang-format off */
static const cli_option common_options[] = {
    {"json",    0,   OPT_FLAG,   COMMON(json),    NULL,
     "print one JSON object instead of a table", .aside = 1},
    {"seed",    0,   OPT_U64,    COMMON(seed),    "N",
     "seed of all random numbers (default 0)"},
    {"threads", 0,   OPT_INT,    COMMON(threads), "N",
     "threads to use (default: all processors)", .aside = 1},
    {"quiet",   0,   OPT_FLAG,   COMMON(quiet),   NULL,
     "no progress bar and no warnings", .aside = 1},
    {"output",  'o', OPT_STRING, COMMON(output),  "FILE",
     "write the result to FILE, which appears when complete", .aside = 1, .writes = WRITES_TEXT},
    {"plot",    0,   OPT_STRING, COMMON(plot),    "FILE",
     "also draw the result: .svg, .png, .pdf, .html or .gp", .aside = 1, .writes = WRITES_TEXT},
    {"help",    'h', OPT_FLAG,   COMMON(help),    NULL,
     "show the options most used, and examples"},
    {"help-all", 0,  OPT_FLAG,   COMMON(help_all), NULL,
     "show this help: every option"},
    {0},
};

static const cli_option team_options[] = {
    {"checkpoint", 0, OPT_STRING, COMMON(checkpoint), "DIR",
     "store results in DIR, and continue from stored ones", .aside = 1, .tool_only = 1},
    {0},
};

static const cli_choice axes[] = {
    {"trials,rows,cols", 0}, {"cols,rows,trials", 0}, {"rows,cols,trials", 0},
    {"rows,cols", 0}, {"cols,rows", 0}, {"batch,rows,cols", 0}, {0},
};

const cli_choice cli_nan_policies[] = {
    {"error",     KSPEC_NAN_ERROR},     {"omit-rows",     KSPEC_NAN_OMIT_ROWS},
    {"omit-cols", KSPEC_NAN_OMIT_COLS}, {"ragged-trials", KSPEC_NAN_RAGGED_TRIALS},
    {"pairwise",  KSPEC_NAN_KEEP},      {0},
};

static const cli_option input_options[] = {
    {"select-cols", 0, OPT_STRING, COMMON(select_cols), "LIST",
     "take these columns: 0-10,13, 20- or names of the header; !3: all but 3"},
    {"select-rows", 0, OPT_STRING, COMMON(select_rows), "LIST",
     "take these rows: 0-99,120 or 200-; !7: all but 7"},
    {"axes",        0, OPT_STRING, COMMON(axes),        "NAMES",
     "the axes of the file: of a 3-D array (default trials,rows,cols), or cols,rows", axes},
    {"nan",         0, OPT_CHOICE, COMMON(nan),         "WHAT",
     "missing values: error, omit-rows, omit-cols, ragged-trials, pairwise", cli_nan_policies},
    {"fill",        0, OPT_LIST,   COMMON(fill),        "VALUE",
     "values that also mean missing, such as -999, separated by commas"},
    {0},
};
/* clang-format on */

int cli_has_option(const cli_option *options, const char *name) {
    for (; options->name; options++)
        if (strcmp(options->name, name) == 0) return 1;
    return 0;
}

void cli_each_option(const cli_command *c, void (*fn)(const cli_option *o, void *ctx), void *ctx) {
    for (const cli_option *o = c->options; o && o->name; o++) fn(o, ctx);
    for (const cli_option *o = input_options; c->reads_input && o->name; o++) fn(o, ctx);
    for (const cli_option *o = team_options; c->shares && o->name; o++)
        if (!c->options || !cli_has_option(c->options, o->name)) fn(o, ctx);
    for (const cli_option *o = common_options; o->name; o++)
        if (o->offset != COMMON(plot) || !c->no_picture) fn(o, ctx);
}

int cli_given(const cli_common *c, const char *name) {
    for (size_t i = 0; i < c->given_count; i++)
        if (strcmp(c->given[i]->name, name) == 0) return 1;
    return 0;
}

const cli_command *cli_find_verb(const cli_command *c, const char *name) {
    size_t n = strlen(c->name);
    for (const cli_command *const *v = c->verbs; v && *v; v++)
        if (strcmp((*v)->name + n + 1, name) == 0) return *v;
    return NULL;
}

/* ---- one option of the command line ---- */

/* What to find: the long name of an option up to '=', or its letter */
typedef struct {
    const char *name;
    size_t length;
    char letter;
    const cli_option *found;
    /* Collects the names of all options, to suggest the one nearest to a misspelt word */
    const char *names[64];
    size_t count;
} search;

static void look(const cli_option *o, void *ctx) {
    search *s = ctx;
    if (s->count < 63) s->names[s->count++] = o->name;
    if (s->letter ? o->letter == s->letter
                  : strlen(o->name) == s->length && strncmp(o->name, s->name, s->length) == 0)
        s->found = o;
}

int cli_takes(const cli_command *c, const char *name) {
    search s = {.name = name, .length = strlen(name)};
    cli_each_option(c, look, &s);
    return s.found != NULL;
}

static int unknown(const cli_command *c, const char *arg, const search *s) {
    char word[64];
    if (c->no_picture && s->name && s->length == 4 && strncmp(s->name, "plot", 4) == 0)
        return cli_error(EXIT_USAGE, "%s has no picture: --plot is for other commands", c->name);
    if (arg[1] != '-' && strchr(arg, '[')) /* For estimate, an argument may also be an expression */
        return cli_error(EXIT_USAGE, "%s: '%s' begins with '-'; write -- and a space before it", c->name,
                         arg);
    snprintf(word, sizeof word, "%.*s", (int)s->length, s->name ? s->name : "");
    const char *near = s->name ? cli_nearest(word, s->names) : NULL;
    if (near)
        return cli_error(EXIT_USAGE, "%s: unknown option '%s'; did you mean %s%s?", c->name, arg,
                         near[1] ? "--" : "-", near);
    return cli_error(EXIT_USAGE, "%s: unknown option '%s'; 'kspec%c%s -h' lists them", c->name, arg,
                     c->apart ? '-' : ' ', c->name);
}

/* Sets the option argv[*i], and moves *i to its value if that is a separate word. */
static int take_option(const cli_command *c, int argc, char **argv, int *i, void *args) {
    cli_common *common = args;
    const char *arg = argv[*i], *value = NULL;
    search s = {0};
    if (arg[1] == '-') {
        s.name = arg + 2;
        s.length = strcspn(s.name, "=");
        if (s.name[s.length] == '=') value = s.name + s.length + 1;
    } else {
        s.letter = arg[1];
        if (arg[2]) value = arg + 2;
    }
    cli_each_option(c, look, &s);
    const cli_option *o = s.found;
    if (!o) return unknown(c, arg, &s);
    common->given[common->given_count++] = o;
    if (o->type == OPT_FLAG) {
        if (value) return cli_error(EXIT_USAGE, "--%s takes no value", o->name);
    } else if (!value && o->bare) {
        value = o->bare;
    } else if (!value) {
        if (*i + 1 == argc)
            return cli_error(EXIT_USAGE, "%s%s needs a value (%s)", cli_dashes(o), o->name, o->arg);
        value = argv[++*i];
    }
    if (!o->aside || (c->writes_output && o->offset == COMMON(output))) {
        cli_remember(arg);
        if (value == argv[*i]) cli_remember(value); /* a separate word */
    }
    return cli_set(o, value, args);
}

/* ---- the whole command line ---- */

int cli_no_input(const cli_command *c) {
    return cli_error(EXIT_USAGE, "%s: no INPUT given; 'kspec %s -h' shows the usage", c->name, c->name);
}

/* Removes the first argument from the list if it is a choice. */
static int take_what(const cli_command *c, cli_common *common) {
    char names[200];
    if (!c->what || (!common->input_count && c->what_optional)) return EXIT_DONE;
    const char *word = common->input_count ? common->inputs[0] : NULL;
    const cli_choice *k = word ? cli_find_choice(c->what, word, strlen(word)) : NULL;
    if (!k)
        return cli_error(EXIT_USAGE, "%s: the first argument%s%s%s must be one of %s", c->name,
                         word ? " '" : "", word ? word : "", word ? "'" : "",
                         cli_choice_list(c->what, names, sizeof names));
    common->what = k->value;
    memmove(common->inputs, common->inputs + 1, common->input_count-- * sizeof *common->inputs);
    for (size_t i = 0; i < common->given_count; i++) {
        const cli_option *o = common->given[i];
        if (o->of && !(o->of >> k->value & 1))
            return cli_error(EXIT_USAGE, "%s %s takes no %s%s", c->name, word, cli_dashes(o), o->name);
    }
    return EXIT_DONE;
}

static int check_arguments(const cli_command *c, const cli_common *common) {
    int takes = c->reads_input || c->takes_files;
    if (common->nan == KSPEC_NAN_KEEP && !c->takes_holes)
        return cli_error(EXIT_USAGE, "%s takes no --nan pairwise: it is for moments and dimension", c->name);
    size_t most = !takes ? 0 : c->most_inputs ? c->most_inputs : SIZE_MAX;
    if (takes && !c->input_optional && common->input_count == 0) return cli_no_input(c);
    if (common->input_count > most)
        return cli_error(EXIT_USAGE, "%s: unexpected argument '%s'%s", c->name, common->inputs[most],
                         most > 1   ? ": two INPUTs are taken"
                         : most     ? ": one INPUT is taken"
                         : c->verbs ? "; a verb comes first"
                                    : "");
    return EXIT_DONE;
}

int cli_parse(const cli_command *c, int argc, char **argv, void *args) {
    cli_common *common = args;
    common->inputs = calloc((size_t)argc + 1, sizeof *common->inputs);
    common->given = calloc((size_t)argc + 1, sizeof *common->given);
    if (!common->inputs || !common->given || !cli_envelope_open(common, c)) return cli_no_memory();
    int words_only = 0, status;
    for (int i = 0; i < argc; i++) {
        if (!words_only && argv[i][0] == '-' && argv[i][1] != 0 && strcmp(argv[i], "--") != 0) {
            if ((status = take_option(c, argc, argv, &i, args))) return status;
            continue;
        }
        cli_remember(argv[i]);
        if (!words_only && strcmp(argv[i], "--") == 0)
            words_only = 1;
        else
            common->inputs[common->input_count++] = argv[i];
    }
    if (common->help || common->help_all) return EXIT_DONE;
    if (common->threads < 0 || common->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: %d is not between 1 and 1024 (0: all processors)",
                         common->threads);
    status = take_what(c, common);
    return status ? status : check_arguments(c, common);
}

static void free_list(const cli_option *o, void *args) {
    void *field = (char *)args + o->offset;
    if (o->type == OPT_LIST) free(((cli_list *)field)->at);
    if (o->type == OPT_RANGES) free(((cli_ranges *)field)->at);
    if (o->type == OPT_LABEL) {
        free((void *)((cli_labels *)field)->name);
        free(((cli_labels *)field)->from);
    }
}

void cli_args_free(const cli_command *c, void *args) {
    cli_common *common = args;
    cli_each_option(c, free_list, args);
    free((void *)common->inputs);
    free((void *)common->given);
    cli_envelope_close(common);
}

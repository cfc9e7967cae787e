#include "core/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMON(field) offsetof(cli_common, field)

static const cli_option common_options[] = {
    {"json", 0, OPT_FLAG, COMMON(json), NULL, "print one JSON object instead of a table", .aside = 1},
    {"seed", 0, OPT_U64, COMMON(seed), "N", "seed of all random numbers (default 0)"},
    {"threads", 0, OPT_INT, COMMON(threads), "N", "threads to use (default: all processors)", .aside = 1},
    {"quiet", 0, OPT_FLAG, COMMON(quiet), NULL, "no progress bar and no warnings", .aside = 1},
    {"output", 'o', OPT_STRING, COMMON(output), "FILE",
     "write the result to FILE, which appears when complete", .aside = 1},
    {"plot", 0, OPT_STRING, COMMON(plot), "FILE", "draw the result, too: .svg, .png, .pdf, .html or .gp",
     .aside = 1},
    {"help", 'h', OPT_FLAG, COMMON(help), NULL, "show this help"},
    {0},
};

static const cli_option input_options[] = {
    {"select-cols", 0, OPT_STRING, COMMON(select_cols), "LIST",
     "take these columns: 0-10,13 or names of the header"},
    {"select-rows", 0, OPT_STRING, COMMON(select_rows), "LIST", "take these rows: 0-99,120"},
    {"axes", 0, OPT_STRING, COMMON(axes), "NAMES", "what a 3-D array's axes are (default trials,rows,cols)",
     "trials,rows,cols|cols,rows,trials|rows,cols,trials|rows,cols|cols,rows"},
    {"nan", 0, OPT_CHOICE, COMMON(nan), "WHAT",
     "missing values: error, omit-rows, omit-cols or ragged-trials",
     "error|omit-rows|omit-cols|ragged-trials"},
    {0},
};

void cli_each_option(const cli_command *c, void (*fn)(const cli_option *o, void *ctx), void *ctx) {
    for (const cli_option *o = c->options; o && o->name; o++) fn(o, ctx);
    for (const cli_option *o = input_options; c->reads_input && o->name; o++) fn(o, ctx);
    for (const cli_option *o = common_options; o->name; o++)
        if (o->offset != COMMON(plot) || !c->no_picture) fn(o, ctx);
}

/* ---- nearest word: Damerau-Levenshtein without transpositions of edited letters ---- */

static size_t distance(const char *a, const char *b) {
    enum { MAX = 40 };
    size_t la = strlen(a), lb = strlen(b), d[MAX + 1][MAX + 1];
    if (la > MAX || lb > MAX) return MAX;
    for (size_t i = 0; i <= la; i++) d[i][0] = i;
    for (size_t j = 0; j <= lb; j++) d[0][j] = j;
    for (size_t i = 1; i <= la; i++)
        for (size_t j = 1; j <= lb; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

const char *cli_nearest(const char *word, const char *const *list) {
    const char *best = NULL;
    size_t best_d = strlen(word) / 2 + 1; /* farther than half the word is no help */
    for (; *list; list++) {
        size_t d = distance(word, *list);
        /* the beginning of an entry counts as near */
        if (d > 1 && strlen(word) >= 3 && strncmp(word, *list, strlen(word)) == 0) d = 1;
        if (d < best_d) best_d = d, best = *list;
    }
    return best;
}

int cli_is_choice(const char *choices, const char *word) {
    size_t n = strlen(word);
    for (const char *p = choices; n && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == '|' || p[n] == 0)) return 1;
    return 0;
}

/* ---- values ---- */

static const char *dashes(const cli_option *o) { return o->name[1] ? "--" : "-"; }

static int bad(const cli_option *o, const char *text, const char *wanted) {
    return cli_error(EXIT_USAGE, "%s%s: '%s' is not %s", dashes(o), o->name, text, wanted);
}

static int parse_double(const char *text, double *out) {
    char *end;
    if (isspace((unsigned char)*text)) return 0;
    *out = strtod(text, &end);
    return end != text && *end == 0 && *out - *out == 0; /* finite */
}

static int parse_unsigned(const char *text, unsigned long long max, unsigned long long *out) {
    char *end;
    if (!isdigit((unsigned char)*text)) return 0;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end == 0 && errno == 0 && *out <= max;
}

static int parse_list(const cli_option *o, const char *text, cli_list *list) {
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    free(list->at);
    list->at = malloc(n * sizeof *list->at);
    list->count = 0;
    char *copy = strdup(text), *save = copy;
    int status = 0;
    if (!list->at || !copy) {
        status = cli_error(EXIT_FAILED, "out of memory");
        goto done;
    }
    for (char *item; !status && (item = strsep(&save, ","));)
        if (!parse_double(item, &list->at[list->count++]))
            status = bad(o, item, "a number");
        else if (o->positive && !(list->at[list->count - 1] > 0))
            status = bad(o, item, "positive");
done:
    free(copy);
    return status;
}

static int set(const cli_option *o, const char *text, void *args) {
    void *to = (char *)args + o->offset;
    unsigned long long u;
    char *end;
    switch (o->type) {
    case OPT_FLAG: *(int *)to = 1; return 0;
    case OPT_INT: {
        errno = 0;
        long v = strtol(text, &end, 10);
        if (end == text || *end || errno || v < -2147483647 || v > 2147483647 ||
            isspace((unsigned char)*text))
            return bad(o, text, "a whole number");
        if (v < o->min) return cli_error(EXIT_USAGE, "%s%s: %ld is below %ld", dashes(o), o->name, v, o->min);
        *(int *)to = (int)v;
        return 0;
    }
    case OPT_SIZE:
        if (!parse_unsigned(text, PTRDIFF_MAX, &u)) return bad(o, text, "a whole number of at least 0");
        if (u < (unsigned long long)o->min)
            return cli_error(EXIT_USAGE, "%s%s: %llu is below %ld", dashes(o), o->name, u, o->min);
        *(size_t *)to = (size_t)u;
        return 0;
    case OPT_U64:
        if (!parse_unsigned(text, INT64_MAX, &u)) return bad(o, text, "a whole number from 0 to 2^63-1");
        *(uint64_t *)to = u;
        return 0;
    case OPT_DOUBLE:
        if (!parse_double(text, to)) return bad(o, text, "a finite number");
        if (o->positive && !(*(double *)to > 0)) return bad(o, text, "positive");
        return 0;
    case OPT_STRING: *(const char **)to = text; return 0;
    case OPT_CHOICE:
        if (!cli_is_choice(o->choices, text))
            return cli_error(EXIT_USAGE, "--%s: '%s' is none of %s", o->name, text, o->choices);
        *(const char **)to = text;
        return 0;
    case OPT_LIST: return parse_list(o, text, to);
    }
    return 0;
}

/* ---- parsing ---- */

typedef struct {
    const char *name; /* searched: long name, up to '=' */
    size_t length;
    char letter;
    const cli_option *found;
    const char *names[64]; /* all of them, for suggestions */
    size_t count;
} search;

static void look(const cli_option *o, void *ctx) {
    search *s = ctx;
    if (s->count < 63) s->names[s->count++] = o->name;
    if (s->letter ? o->letter == s->letter
                  : strlen(o->name) == s->length && strncmp(o->name, s->name, s->length) == 0)
        s->found = o;
}

static int unknown(const cli_command *c, const char *arg, const search *s) {
    char word[64];
    if (c->no_picture && s->name && s->length == 4 && strncmp(s->name, "plot", 4) == 0)
        return cli_error(EXIT_USAGE, "%s: there is no picture of it; --plot is for other commands", c->name);
    snprintf(word, sizeof word, "%.*s", (int)s->length, s->name ? s->name : "");
    const char *near = s->name ? cli_nearest(word, s->names) : NULL;
    if (near)
        return cli_error(EXIT_USAGE, "%s: unknown option '%s'; did you mean %s%s?", c->name, arg,
                         near[1] ? "--" : "-", near);
    return cli_error(EXIT_USAGE, "%s: unknown option '%s'; 'kspec %s -h' lists them", c->name, arg, c->name);
}

int cli_no_input(const cli_command *c) {
    return cli_error(EXIT_USAGE, "%s: no INPUT given; 'kspec %s -h' shows the usage", c->name, c->name);
}

int cli_given(const cli_common *c, const char *name) {
    for (size_t i = 0; i < c->given_count; i++)
        if (strcmp(c->given[i]->name, name) == 0) return 1;
    return 0;
}

/* Every option given is one that the verb takes. */
static int check_verb(const cli_command *c, const cli_common *common) {
    for (size_t i = 0; i < common->given_count; i++) {
        const cli_option *o = common->given[i];
        if (o->verbs && !cli_is_choice(o->verbs, common->inputs[0]))
            return cli_error(EXIT_USAGE, "%s %s takes no %s%s", c->name, common->inputs[0], dashes(o),
                             o->name);
    }
    return EXIT_DONE;
}

int cli_parse(const cli_command *c, int argc, char **argv, void *args) {
    cli_common *common = args;
    common->inputs = calloc((size_t)argc + 1, sizeof *common->inputs);
    common->given = calloc((size_t)argc + 1, sizeof *common->given);
    if (!common->inputs || !common->given) return cli_error(EXIT_FAILED, "out of memory");
    cli_remember(c->name);
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i], *value = NULL;
        if (strcmp(arg, "--") == 0) {
            cli_remember(arg);
            while (++i < argc) {
                cli_remember(argv[i]);
                common->inputs[common->input_count++] = argv[i];
            }
            break;
        }
        if (arg[0] != '-' || arg[1] == 0) {
            cli_remember(arg);
            common->inputs[common->input_count++] = arg;
            continue;
        }
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
        if (!s.found) return unknown(c, arg, &s);
        common->given[common->given_count++] = s.found;
        if (s.found->type == OPT_FLAG) {
            if (value) return cli_error(EXIT_USAGE, "--%s takes no value", s.found->name);
        } else if (!value) {
            if (i + 1 == argc)
                return cli_error(EXIT_USAGE, "%s%s needs a value (%s)", dashes(s.found), s.found->name,
                                 s.found->arg);
            value = argv[++i];
        }
        if (!s.found->aside || (c->writes_output && s.found->offset == COMMON(output))) {
            cli_remember(arg);
            if (value == argv[i]) cli_remember(value); /* a word of its own */
        }
        int status = set(s.found, value, args);
        if (status) return status;
    }
    if (common->help) return EXIT_DONE;
    if (common->threads < 0 || common->threads > 1024)
        return cli_error(EXIT_USAGE, "--threads: %d is not between 1 and 1024 (0: all processors)",
                         common->threads);
    if (c->verbs && (common->input_count ? !cli_is_choice(c->verbs, common->inputs[0]) : !c->verb_optional))
        return cli_error(EXIT_USAGE, "%s: the first argument%s%s%s must be one of %s", c->name,
                         common->input_count ? " '" : "", common->input_count ? common->inputs[0] : "",
                         common->input_count ? "'" : "", c->verbs);
    if ((c->reads_input || c->takes_files) && !c->input_optional && common->input_count == 0)
        return cli_no_input(c);
    if (!c->reads_input && !c->takes_files && common->input_count > (c->verbs ? 1 : 0))
        return cli_error(EXIT_USAGE, "%s: unexpected argument '%s'", c->name,
                         common->inputs[c->verbs ? 1 : 0]);
    return c->verbs && common->input_count ? check_verb(c, common) : EXIT_DONE;
}

static void free_list(const cli_option *o, void *args) {
    if (o->type == OPT_LIST) free(((cli_list *)(void *)((char *)args + o->offset))->at);
}

void cli_args_free(const cli_command *c, void *args) {
    cli_each_option(c, free_list, args);
    free((void *)((cli_common *)args)->inputs);
    free((void *)((cli_common *)args)->given);
}

/* ---- help ---- */

static void describe(const cli_option *o, void *ctx) {
    char left[64];
    const char *value = o->arg ? o->arg : "", *gap = o->arg ? " " : "";
    if (!o->name[1]) /* an option of one letter, such as -n */
        snprintf(left, sizeof left, "-%c%s%s", o->letter, gap, value);
    else if (o->letter)
        snprintf(left, sizeof left, "-%c, --%s%s%s", o->letter, o->name, gap, value);
    else
        snprintf(left, sizeof left, "    --%s%s%s", o->name, gap, value);
    fprintf(ctx, strlen(left) < 26 ? "  %-26s %s\n" : "  %s\n                             %s\n", left,
            o->help);
}

void cli_help(const cli_command *c, FILE *f) {
    const char *line = c->synopsis;
    for (int first = 1; line; first = 0) {
        size_t n = strcspn(line, "\n");
        fprintf(f, "%s kspec %.*s\n", first ? "usage:" : "      ", (int)n, line);
        line = line[n] ? line + n + 1 : NULL;
    }
    fprintf(f, "\n%s\n\n", c->description);
    cli_each_option(c, describe, f);
    fprintf(f, "\nThe whole story: man kspec-%s\n", c->name);
}

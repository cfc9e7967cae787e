/* Prints the help of -h and --help-all: usage, options, and two command lines to try. */
#include "core/cli.h"

#include <string.h>

/*
 * The options of each command that -h shows, and its examples. The examples read the files that a first
 * `kspec generate` writes (the overview says so), or a table or signal of the user's.
 */
typedef struct {
    const char *command, *options;
    const char *examples[2];
} first_help;

static const first_help shown[] = {
    {"dimension",
     "center label axes sampled target",
     {"kspec dimension x.npy", "kspec dimension trial1.npy trial2.npy --plot dimension.svg"}},
    {"spectrum",
     "method count exponent center axes",
     {"kspec spectrum x.npy", "kspec spectrum trial1.npy trial2.npy --method cvpca"}},
    {"compare",
     "center label sampled groups axes",
     {"kspec compare x.npy y.npy", "kspec compare x.npy y.npy -n 4 --plot compare.svg"}},
    {"moments",
     "n estimator center sampled axes",
     {"kspec moments x.npy", "kspec moments x.npy -n 6 --estimator naive,exact"}},
    {"report",
     "output center groups standardize axes",
     {"kspec report x.npy -o report.html", "kspec report trial1.npy trial2.npy -o report.html"}},
    {"norm",
     "method sigma kernel standardize features",
     {"kspec norm table.csv", "kspec norm table.csv --method eigen,rff-debiased --sigma median"}},
    {"ridge",
     "target test-fraction features lambda check",
     {"kspec ridge table.csv --target quality",
      "kspec ridge table.csv --target quality --features 10,100 --lambda 0.1"}},
    {"wls",
     "help-all",
     {"kspec wls fit signal.csv", "kspec wls theory --grid 64 --learn 4-256:4 --modes 256"}},
    {"wls theory",
     "grid learn modes gamma noise",
     {"kspec wls theory --grid 64 --learn 16",
      "kspec wls theory --grid 64 --learn 4-256:4 --modes 256 --gamma 0.3"}},
    {"wls select",
     "grid best-p best-weights gamma noise",
     {"kspec wls select --grid 64 --best-p --noise 0.1",
      "kspec wls select --grid 64 --best-weights --learn 16 --noise 0.1"}},
    {"wls bound",
     "zeta grid learn beta noise",
     {"kspec wls bound --zeta 1 --grid 64 --learn 16 --beta 1",
      "kspec wls bound --zeta 1 --grid 64 --learn 4-64:4 --beta 1"}},
    {"wls fit",
     "x basis nan at predictions",
     {"kspec wls fit signal.csv", "kspec wls fit signal.csv --basis legendre --plot curve.svg"}},
    {"wls features",
     "target learn prior at predictions",
     {"kspec wls features x.npy --target y.csv --learn 4",
      "kspec wls features x.npy --target y.csv --learn 1-20 --json"}},
    {"wls decay",
     "kernel sigma degree unit plot",
     {"kspec wls decay x.npy", "kspec wls decay x.npy --sigma 3"}},
    {"learn",
     "images labels test-images width epochs",
     {"kspec learn --images images.gz --labels labels.gz --test-images images.gz --width 8 --epochs 1 "
      "--train-count 20",
      "kspec learn --images images.gz --labels labels.gz --test-images images.gz --width 8,16 --epochs 1 "
      "--train-count 20"}},
    {"theory",
     "dim eta eigenvalues eigenvalue kernel",
     {"kspec theory rbf --eta 1 --dim 3", "kspec theory sphere --kernel ntk --dim 3"}},
    {"generate",
     "rows cols dim noise trials",
     {"kspec generate rff --rows 300 --cols 200 --dim 3 -o x.npy",
      "kspec generate linear --rows 200 --cols 100 --dim 20 --noise 0.5 --trials 2 -o trials.npy"}},
    {"plot",
     "output title size log linear",
     {"kspec plot result.json -o picture.svg", "kspec plot result.json -o picture.png --title Layers"}},
    {"estimate",
     "center complete explain same-cols json",
     {"kspec estimate 'X[i,a] X[j,a] X[j,b] X[i,b]' X=x.npy",
      "kspec estimate 'X[i,a] Y[i,b] X[j,a] Y[j,b]' X=x.npy Y=y.npy --explain"}},
    {"config", "json", {"kspec config", "kspec config --json"}},
    {"completion", "output", {"kspec completion bash", "kspec completion fish -o kspec.fish"}},
};

/* A separate program has few options, and no entry in the table: returns NULL. */
static const first_help *find(const cli_command *c) {
    for (size_t k = 0; k < sizeof shown / sizeof *shown && !c->apart; k++)
        if (strcmp(shown[k].command, c->name) == 0) return &shown[k];
    return NULL;
}

typedef struct {
    FILE *f;
    /* Holds the names of the options to show, or NULL to show all. */
    const char *names;
    int count;
} help_text;

static int is_named(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncmp(at, name, length) == 0) return 1;
    return 0;
}

static void describe(const cli_option *o, void *ctx) {
    help_text *h = ctx;
    char left[64];
    char optional[32];
    const char *value = o->arg ? o->arg : "", *gap = o->arg && !o->bare ? " " : "";
    h->count++;
    if (h->names && !is_named(h->names, o->name)) return;
    if (o->bare) {
        snprintf(optional, sizeof optional, "[=%s]", o->arg);
        value = optional;
    }
    if (cli_is_short(o)) /* such as -n */
        snprintf(left, sizeof left, "-%c%s%s", o->letter, gap, value);
    else if (o->letter)
        snprintf(left, sizeof left, "-%c, --%s%s%s", o->letter, o->name, gap, value);
    else
        snprintf(left, sizeof left, "    --%s%s%s", o->name, gap, value);
    fprintf(h->f, strlen(left) < 26 ? "  %-26s %s\n" : "  %s\n                             %s\n", left,
            o->help);
}

static void print(const cli_command *c, FILE *f, const first_help *first, const char *names) {
    const char *line = c->synopsis;
    help_text h = {f, names, 0};
    for (const char *lead = "usage:"; line; lead = "      ") {
        size_t n = strcspn(line, "\n");
        fprintf(f, "%s kspec%c%.*s\n", lead, c->apart ? '-' : ' ', (int)n, line);
        line = line[n] ? line + n + 1 : NULL;
    }
    fprintf(f, "\n%s\n\n", c->description);
    cli_each_option(c, describe, &h);
    if (names) fprintf(f, "\nAll %d options: kspec %s --help-all\n", h.count, c->name);
    if (c->verbs) fprintf(f, "The options of one verb: kspec %s VERB -h\n", c->name);
    if (first) fprintf(f, "\nTry:\n  %s\n  %s\n", first->examples[0], first->examples[1]);
    if (!c->apart) fprintf(f, "\nSee also: man kspec-%.*s\n", (int)strcspn(c->name, " "), c->name);
}

void cli_help(const cli_command *c, FILE *f) {
    const first_help *first = find(c);
    print(c, f, first, first ? first->options : NULL);
}

void cli_help_all(const cli_command *c, FILE *f) { print(c, f, find(c), NULL); }

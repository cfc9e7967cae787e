/* Sets an option's field from its text, or prints a message with the value and its bound. */
#include "core/cli.h"
#include "kspec/host.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cli_dashes(const cli_option *o) { return cli_is_short(o) ? "-" : "--"; }

static int bad(const cli_option *o, const char *text, const char *wanted) {
    return cli_error(EXIT_USAGE, "%s%s: '%s' is not %s", cli_dashes(o), o->name, text, wanted);
}

int cli_parse_double(const char *text, double *out) {
    char *end;
    if (isspace((unsigned char)*text)) return 0;
    *out = strtod(text, &end);
    return end != text && *end == 0 && *out - *out == 0; /* finite */
}

static int set_int(const cli_option *o, const char *text, int *to) {
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < -2147483647 || v > 2147483647 || isspace((unsigned char)*text))
        return bad(o, text, "a whole number");
    if (v < o->min) return cli_error(EXIT_USAGE, "%s%s: %ld is below %ld", cli_dashes(o), o->name, v, o->min);
    *to = (int)v;
    return EXIT_DONE;
}

static int parse_unsigned(const char *text, unsigned long long max, unsigned long long *out) {
    char *end;
    if (!isdigit((unsigned char)*text)) return 0;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end == 0 && errno == 0 && *out <= max;
}

static int set_size(const cli_option *o, const char *text, size_t *to) {
    unsigned long long u;
    if (!parse_unsigned(text, PTRDIFF_MAX, &u)) return bad(o, text, "a whole number of at least 0");
    if (u < (unsigned long long)o->min)
        return cli_error(EXIT_USAGE, "%s%s: %llu is below %ld", cli_dashes(o), o->name, u, o->min);
    *to = (size_t)u;
    return EXIT_DONE;
}

static int set_u64(const cli_option *o, const char *text, uint64_t *to) {
    unsigned long long u;
    if (!parse_unsigned(text, INT64_MAX, &u)) return bad(o, text, "a whole number from 0 to 2^63-1");
    *to = u;
    return EXIT_DONE;
}

static int set_double(const cli_option *o, const char *text, double *to) {
    if (!cli_parse_double(text, to)) return bad(o, text, "a finite number");
    return o->positive && !(*to > 0) ? bad(o, text, "above 0") : EXIT_DONE;
}

static int set_sigma(const cli_option *o, const char *text, cli_sigma *to) {
    *to = (cli_sigma){0};
    if (strcmp(text, "median") == 0) {
        to->median = 1;
        return EXIT_DONE;
    }
    return cli_parse_double(text, &to->value) && to->value > 0
               ? EXIT_DONE
               : cli_error(EXIT_USAGE, "--%s: '%s' is neither a number above 0 nor median", o->name, text);
}

static int check_item(const cli_option *o, const char *item, double x) {
    if (o->positive && !(x > 0)) return bad(o, item, "above 0");
    if (o->whole && !(x >= 1 && x <= 1e9 && x == floor(x)))
        return bad(o, item, "a whole number from 1 to 1000000000");
    return EXIT_DONE;
}

static int set_list(const cli_option *o, const char *text, cli_list *list) {
    if (o->choices && cli_find_choice(o->choices, text, strlen(text))) {
        list->count = 0;
        return EXIT_DONE;
    }
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    free(list->at);
    list->at = malloc(n * sizeof *list->at);
    list->count = 0;
    char *copy = strdup(text), *rest = copy;
    int status = list->at && copy ? EXIT_DONE : cli_no_memory();
    for (char *item; !status && (item = strsep(&rest, ","));) {
        double *x = &list->at[list->count++];
        status = cli_parse_double(item, x) ? check_item(o, item, *x) : bad(o, item, "a number");
    }
    free(copy);
    return status;
}

/* Reads a whole number at *text and moves *text behind it. */
static int take_number(const char **text, size_t *out) {
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)**text)) return 0;
    unsigned long long u = strtoull(*text, &end, 10);
    *text = end;
    *out = (size_t)u;
    return errno == 0 && u <= PTRDIFF_MAX;
}

/* "3,8-16,20-40:5" */
static int set_ranges(const cli_option *o, const char *text, cli_ranges *list) {
    enum { MOST = 100000000 };
    size_t room = 0;
    free(list->at);
    *list = (cli_ranges){0};
    for (const char *s = text; list->count == 0 || *s;) {
        size_t first, last, by = 1;
        int ok = take_number(&s, &first);
        last = first;
        if (ok && *s == '-') s++, ok = take_number(&s, &last);
        if (ok && *s == ':') s++, ok = take_number(&s, &by);
        if (!ok || (*s && *s != ',') || (*s == ',' && !s[1]))
            return bad(o, text, "a list of whole numbers and ranges");
        if (first == 0 || by == 0 || last < first)
            return cli_error(EXIT_USAGE, "--%s: '%s' holds a number below 1 or an empty range", o->name,
                             text);
        size_t n = (last - first) / by + 1;
        if (n > MOST - list->count) return cli_error(EXIT_USAGE, "--%s: more than %d values", o->name, MOST);
        if (list->count + n > room) {
            room = 2 * (list->count + n);
            size_t *more = realloc(list->at, room * sizeof *more);
            if (!more) return cli_no_memory();
            list->at = more;
        }
        for (size_t q = first; n > 0; q += by, n--) list->at[list->count++] = q;
        if (*s) s++;
    }
    return EXIT_DONE;
}

static int set_block(const cli_option *o, const char *text, size_t *to) {
    const char *p = text;
    *to = KSPEC_BLOCK_AUTO;
    if (strcmp(text, "auto") == 0) return EXIT_DONE;
    if (take_number(&p, to) && !*p && *to > 0) return EXIT_DONE;
    return bad(o, text, "a whole number from 1, or auto");
}

/* Finds the choice whose name is the first n letters of text. */
static int find(const cli_option *o, const char *text, size_t n, int *value) {
    char names[400];
    const cli_choice *k = cli_find_choice(o->choices, text, n);
    if (!k)
        return cli_error(EXIT_USAGE, "--%s: '%.*s' must be one of %s", o->name, (int)n, text,
                         cli_choice_list(o->choices, names, sizeof names));
    *value = k->value;
    return EXIT_DONE;
}

static int set_set(const cli_option *o, const char *text, unsigned *to) {
    *to = 0;
    for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int value = 0, status = find(o, p, strcspn(p, ","), &value);
        if (status) return status;
        *to |= (unsigned)value;
    }
    return EXIT_DONE;
}

static int add_label(const char *text, size_t inputs, cli_labels *to) {
    const char **name = realloc(to->name, (to->count + 1) * sizeof *name);
    if (name) to->name = name;
    size_t *from = realloc(to->from, (to->count + 1) * sizeof *from);
    if (from) to->from = from;
    if (!name || !from) return cli_no_memory();
    to->name[to->count] = text;
    to->from[to->count++] = inputs;
    return EXIT_DONE;
}

static int set_device(const cli_option *o, const char *text, int *to) {
    kspec_device device;
    kspec_error err;
    if (kspec_device_parse(text, &device, &err)) return cli_error(EXIT_USAGE, "--%s: %s", o->name, err.msg);
    *to = (int)device;
    return EXIT_DONE;
}

static int set_automatic(const cli_option *o, void *to) {
    if (o->type == OPT_DOUBLE) {
        *(double *)to = NAN;
    } else {
        cli_ranges *list = to;
        free(list->at);
        *list = (cli_ranges){0};
    }
    return EXIT_DONE;
}

int cli_set(const cli_option *o, const char *text, void *args) {
    void *to = (char *)args + o->offset;
    if (o->automatic && strcmp(text, "auto") == 0) return set_automatic(o, to);
    switch (o->type) {
    case OPT_FLAG: *(int *)to = 1; return EXIT_DONE;
    case OPT_INT: return set_int(o, text, to);
    case OPT_SIZE: return set_size(o, text, to);
    case OPT_U64: return set_u64(o, text, to);
    case OPT_DOUBLE: return set_double(o, text, to);
    case OPT_STRING: *(const char **)to = text; return EXIT_DONE;
    case OPT_CHOICE: return find(o, text, strlen(text), to);
    case OPT_SET: return set_set(o, text, to);
    case OPT_LIST: return set_list(o, text, to);
    case OPT_RANGES: return set_ranges(o, text, to);
    case OPT_SIGMA: return set_sigma(o, text, to);
    case OPT_BLOCK: return set_block(o, text, to);
    case OPT_DEVICE: return set_device(o, text, to);
    case OPT_LABEL: return add_label(text, ((const cli_common *)args)->input_count, to);
    }
    return EXIT_DONE;
}

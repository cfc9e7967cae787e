/* Words: choices by name and by value, the nearest word to a misspelt one; sorting. */
#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- choices ---- */

const cli_choice *cli_find_choice(const cli_choice *choices, const char *word, size_t n) {
    for (const cli_choice *k = choices; k && k->name; k++)
        if (strlen(k->name) == n && strncmp(k->name, word, n) == 0) return k;
    return NULL;
}

const char *cli_choice_name(const cli_choice *choices, int value) {
    for (const cli_choice *k = choices; k->name; k++)
        if (k->value == value) return k->name;
    return NULL;
}

const char *cli_choice_list(const cli_choice *choices, char *to, size_t size) {
    size_t used = 0;
    *to = 0;
    for (const cli_choice *k = choices; k->name && used < size; k++)
        used += (size_t)snprintf(to + used, size - used, "%s%s", used ? ", " : "", k->name);
    return to;
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
    size_t best_d = strlen(word) / 2 + 1; /* farther than half the word does not help */
    for (; *list; list++) {
        size_t d = distance(word, *list);
        /* the beginning of an entry counts as near */
        if (d > 1 && strlen(word) >= 3 && strncmp(word, *list, strlen(word)) == 0) d = 1;
        if (d < best_d) best_d = d, best = *list;
    }
    return best;
}

/* ---- sorting ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cli_sort(double *x, size_t count) { qsort(x, count, sizeof *x, ascending); }

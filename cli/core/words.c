/* Handles words: choices by name and by value, the nearest word to a misspelt one, letters, sorting. */
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
    /* Words are similar if they differ in at most half of their letters. */
    size_t best_d = strlen(word) / 2 + 1;
    for (; *list; list++) {
        size_t d = distance(word, *list);
        /* A word that begins an entry is near to it. */
        if (d > 1 && strlen(word) >= 3 && strncmp(word, *list, strlen(word)) == 0) d = 1;
        if (d < best_d) best_d = d, best = *list;
    }
    return best;
}

/* ---- letters ---- */

size_t cli_letter(const char *text, size_t left) {
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    int odd = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
              (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return odd ? 0 : n; /* UTF-8 forbids overlong forms, surrogates, and characters beyond U+10FFFF */
}

int cli_is_control(const char *text, size_t n) {
    const unsigned char *s = (const unsigned char *)text;
    return n == 1 ? s[0] < 32 || s[0] == 127 : n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

void cli_make_printable(char *text, size_t size, int table) {
    for (size_t i = 0; i < size;) {
        size_t n = cli_letter(text + i, size - i), end = i + (n ? n : 1);
        int keep = n && (!cli_is_control(text + i, n) || (table && (unsigned char)text[i] < 32));
        for (; i < end; i++)
            if (!keep) text[i] = '?';
    }
}

/* ---- sorting ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cli_sort(double *x, size_t count) { qsort(x, count, sizeof *x, ascending); }

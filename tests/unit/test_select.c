/* Selections of rows and columns against what they should pick, and every way to write one wrongly. */
#include "help/failing_alloc.h"
#include "base/memory.h"
#include "base/streams.h"
#include "formats/array.h"
#include "test.h"

static kspec_error err;
static char *names[] = {"fixed acidity", "citric acid", "alcohol", "pH",   "0-2",  "7",
                        "a,b",           "a",           "",        "twin", "twin", " x"};
enum { NAMES = sizeof names / sizeof *names };

static kspec_status select_of(const char *spec, size_t n, char *const *from, size_t **index, size_t *count) {
    err.msg[0] = 0;
    kspec_status st = ks_select_parse(spec, n, from, from ? "column" : "row", "x.csv", index, count, &err);
    if (st) CHECK_MSG(!*index && !*count, "a failure gives nothing");
    return st;
}

/* The selection picks the wanted indices, given as a list that ends in -1. */
static void check_picks(int line, const char *spec, size_t n, char *const *from, const int *want) {
    size_t *index, count, k = 0;
    kspec_status st = select_of(spec, n, from, &index, &count);
    CHECK_MSG(st == KSPEC_OK, "line %d: %s", line, err.msg);
    for (; k < count && want[k] >= 0; k++)
        CHECK_MSG(index[k] == (size_t)want[k], "line %d: %zu is %zu", line, k, index[k]);
    CHECK_MSG(k == count && want[k] < 0, "line %d: %zu indices", line, count);
    ks_free(index);
}

#define PICKS(spec, n, from, ...) check_picks(__LINE__, spec, n, from, (const int[]){__VA_ARGS__, -1})
#define REFUSES(spec, n, from, text)                                                    \
    do {                                                                                \
        size_t *refused, none;                                                          \
        CHECK_FAILS(select_of(spec, n, from, &refused, &none), KSPEC_E_ARG, err, text); \
    } while (0)

TEST(numbers_and_ranges) {
    PICKS("0", 1, NULL, 0);
    PICKS("0-10,13", 14, NULL, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13);
    PICKS("5,3,4", 6, NULL, 5, 3, 4); /* the order is kept */
    PICKS(" 5 , 1-2 ,0 ", 6, NULL, 5, 1, 2, 0);
    PICKS("3-3", 4, NULL, 3);
    PICKS("3-", 6, NULL, 3, 4, 5);
    PICKS("5- ,0", 6, NULL, 5, 0);
    PICKS("!2", 5, NULL, 0, 1, 3, 4); /* all but these */
    PICKS("!0-1,4", 6, NULL, 2, 3, 5);
    PICKS("5,0-3,!1,2", 6, NULL, 5, 0, 3);
    PICKS(" ! 3 , !0", 4, NULL, 1, 2);
    REFUSES("!0-", 3, NULL, "row selection '!0-' leaves none");
    REFUSES("1,!1", 3, NULL, "leaves none");
    REFUSES("!", 3, NULL, "has an empty part");
    REFUSES("!9", 3, NULL, "row 9 is out of range");
    PICKS("!alcohol", 4, names, 0, 1, 3);
    PICKS("!a,b,pH", 8, names, 0, 1, 2, 4, 5, 7);
    REFUSES("!alcohl", 4, names, "did you mean 'alcohol'");
    PICKS("!a", 2, ((char *[]){"!a", "a"}), 0); /* a name of its own */
    REFUSES("6-", 6, NULL, "row 6 is out of range");
    REFUSES("2-,4", 6, NULL, "row 4 is selected twice");
    PICKS("007", 8, NULL, 7);
    REFUSES("12", 12, NULL, "row 12 is out of range: x.csv has 12 rows, 0 to 11");
    REFUSES("1", 1, NULL, "row 1 is out of range: x.csv has 1 row, 0 to 0");
    REFUSES("3-12", 12, NULL, "row 12 is out of range");
    REFUSES("99999999999999999999999999", 12, NULL, "row 99999999999999999999999999 is out of range");
    REFUSES("18446744073709551616", 12, NULL, "is out of range"); /* 2^64 does not wrap to 0 */
    REFUSES("5-2", 12, NULL, "row range 5-2 runs backwards; write 2-5");
    REFUSES("1,2,1", 12, NULL, "row 1 is selected twice in '1,2,1'");
    REFUSES("0-5,3", 12, NULL, "row 3 is selected twice");
    REFUSES("", 12, NULL, "row selection is empty");
    REFUSES("  ", 12, NULL, "row selection is empty");
    REFUSES("1,,2", 12, NULL, "row selection '1,,2' has an empty part");
    REFUSES("1,", 12, NULL, "has an empty part");
    REFUSES(",1", 12, NULL, "has an empty part");
    static const char *const bad[] = {"-1",  "1--", "-",  "a",   "1.5",  "1-2-3",
                                      "1:3", "0x1", "+1", "1 2", "1- 2", "1e0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        REFUSES(bad[i], 12, NULL, "is not a number or a range a-b or a-: x.csv has 12 rows, 0 to 11");
    REFUSES("0", 0, NULL, "x.csv has 0 rows");
}

TEST(header_names) {
    PICKS("alcohol", NAMES, names, 2);
    PICKS("citric acid,fixed acidity , 3", NAMES, names, 1, 0, 3);
    PICKS("0-2", NAMES, names, 4); /* a name that is one wins */
    PICKS("7", NAMES, names, 5);
    PICKS("0-1,6", NAMES, names, 0, 1, 6); /* and what is none is a range */
    PICKS("a,b", NAMES, names, 6);         /* the longest name */
    PICKS("a,2", NAMES, names, 7, 2);
    PICKS("pH,a,b,a", NAMES, names, 3, 6, 7);
    REFUSES("alcohl", NAMES, names, "column 'alcohl' is not in the header of x.csv; did you mean 'alcohol'?");
    REFUSES("Citric Acid", NAMES, names, "did you mean 'citric acid'?");
    REFUSES("ph", NAMES, names, "did you mean 'pH'?");
    REFUSES("zebra crossing", NAMES, names,
            "column 'zebra crossing' is neither a number or range of 0 to 11 nor in the header of x.csv");
    REFUSES("twin", NAMES, names, "column 'twin' is ambiguous: columns 9 and 10 of x.csv have this name");
    REFUSES("alcohol,2", NAMES, names, "column 2 is selected twice");
    REFUSES("12", NAMES, names, "column 12 is out of range: x.csv has 12 columns, 0 to 11");
}

/* Random selections, written as numbers and ranges, against the list they were written from. */
TEST(random_selections) {
    for (uint64_t round = 0; round < 500; round++) {
        size_t n = 1 + round % 40, order[40], want[40], count = 0, length = 0;
        char spec[400] = "";
        double u[40];
        ks_random_permutation(1, round, n, order);
        kspec_random_uniform(2, round, 0, 40, u);
        unsigned char used[41] = {0};
        for (size_t k = 0; k < n && (!count || u[k] < 0.8); k++) {
            size_t lo = order[k], hi = lo;
            if (used[lo]) continue;
            while (u[k] < 0.4 && hi + 1 < n && !used[hi + 1] && hi < lo + 3) hi++;
            length +=
                (size_t)sprintf(spec + length, hi > lo ? "%s%zu-%zu" : "%s%zu", count ? "," : "", lo, hi);
            for (size_t i = lo; i <= hi; i++) used[i] = 1, want[count++] = i;
        }
        size_t *index, got;
        CHECK_MSG(select_of(spec, n, NULL, &index, &got) == KSPEC_OK, "%s: %s", spec, err.msg);
        CHECK_MSG(got == count && memcmp(index, want, count * sizeof *want) == 0, "%s", spec);
        ks_free(index);
    }
}

/* The longest name that fits, by trying them all; -1: none, -2: two columns have it */
static int fits(const char *p, char *const *from, size_t n, size_t *longest) {
    int found = -1;
    *longest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(from[i]);
        if (!len || strncmp(p, from[i], len) != 0 || len < *longest) continue;
        const char *after = p + len + strspn(p + len, " ");
        if (*after && *after != ',') continue;
        found = len == *longest ? -2 : (int)i;
        *longest = len;
    }
    return found;
}

/* Names of few different letters, commas and blanks among them, so that one is often part of another. */
TEST(random_names) {
    int picked = 0, twice = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        char text[12][6], *from[12], spec[16];
        double u[200];
        kspec_random_uniform(3, round, 0, 200, u);
        size_t n = 1 + (size_t)(u[0] * 12), at = 1;
        for (size_t i = 0; i <= n; i++) {
            char *to = i < n ? text[i] : spec;
            size_t len = i < n ? (size_t)(u[at++] * 5) : 1 + (size_t)(u[at++] * 12);
            for (size_t k = 0; k < len; k++) to[k] = "ab, "[(int)(u[at++] * 4)];
            to[len] = 0;
            if (i < n) from[i] = to;
        }
        if (!spec[strspn(spec, " ")]) continue;
        const char *p = spec + strspn(spec, " ");
        if (*p == ',') continue;
        size_t len, *index, count;
        int want = fits(p, from, n, &len);
        kspec_status st = select_of(spec, n, from, &index, &count);
        twice += want == -2;
        picked += want >= 0 && !st;
        if (want == -2)
            CHECK_MSG(st && strstr(err.msg, "is ambiguous"), "'%s': %s", spec, err.msg);
        else if (want >= 0 && !st)
            CHECK_MSG(index[0] == (size_t)want, "'%s': %zu, not %d", spec, index[0], want);
        else if (want < 0)
            CHECK_MSG(st, "'%s' is taken for %zu", spec, index[0]);
        ks_free(index);
    }
    CHECK_MSG(picked > 500 && twice > 100, "%d picked, %d twice", picked, twice);
}

/* As many names as a genome has genes: trying all of them for each would take longer than a test may. */
TEST(many_names) {
    enum { MANY = 400000 };
    char *text = malloc(MANY * 8), *spec = malloc(MANY * 8 + 1), **from = malloc(MANY * sizeof *from),
         *to = spec;
    for (size_t i = 0; i < MANY; i++) {
        from[i] = text + 8 * i;
        snprintf(from[i], 8, "g%zu", i);
        to += sprintf(to, "%sg%zu", i ? "," : "", MANY - 1 - i);
    }
    size_t *index, count;
    CHECK_MSG(select_of(spec, MANY, from, &index, &count) == KSPEC_OK, "%s", err.msg);
    CHECK(count == MANY);
    for (size_t i = 0; i < count; i++) CHECK(index[i] == MANY - 1 - i);
    ks_free(index);
    for (size_t i = 0; i < MANY; i++) strcpy(from[i], "same");
    REFUSES("same", MANY, from, "columns 0 and 1 of x.csv have this name");
    free(text), free(spec), free(from);
}

TEST(allocations_may_fail) {
    failing_alloc_install();
    long k = 0;
    for (; k < 10; k++) {
        size_t *index, count;
        failing_alloc_arm(k);
        kspec_status st = select_of("alcohol,0-1", NAMES, names, &index, &count);
        ks_free(index);
        CHECK(failing_alloc_live() == 0);
        if (!st) break;
        CHECK(st == KSPEC_E_NOMEM);
    }
    CHECK_MSG(k == 3, "%ld", k);
    failing_alloc_uninstall();
}

int main(void) {
    RUN(numbers_and_ranges);
    RUN(header_names);
    RUN(random_selections);
    RUN(random_names);
    RUN(many_names);
    RUN(allocations_may_fail);
    return test_done();
}

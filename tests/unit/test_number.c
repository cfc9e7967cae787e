/* The numbers in a text file's fields, against strtod(). */
#include "formats/number.h"
#include "kspec.h"
#include "help/locale.h"
#include "help/random_bits.h"
#include "test.h"

static int same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static int agrees(const char *s) {
    double x = -1;
    ks_number_kind kind = ks_number_parse(s, strlen(s), &x);
    double want = strtod(s, NULL);
    CHECK_MSG(kind == KS_NUMBER && same_bits(x, want), "'%s': %.17g, strtod says %.17g", s, x, want);
    return kind == KS_NUMBER && same_bits(x, want);
}

TEST(numbers_are_those_of_strtod) {
    char s[1200];
    for (int i = 0; i < 300000; i++) { /* any digits, point anywhere, any exponent */
        int digits = 1 + (int)(random_bits() % 24), point = (int)(random_bits() % 30), n = 0;
        if (random_bits() % 2) s[n++] = random_bits() % 2 ? '-' : '+';
        for (int k = 0; k < digits; k++) {
            if (k == point) s[n++] = '.';
            s[n++] = (char)('0' + random_bits() % 10);
        }
        s[n] = 0;
        if (random_bits() % 2)
            sprintf(s + n, "%c%d", random_bits() % 2 ? 'e' : 'E', (int)(random_bits() % 71) - 35);
        else if (random_bits() % 8 == 0)
            sprintf(s + n, "e%+d", (int)(random_bits() % 800) - 400);
        if (!agrees(s)) break;
    }
    for (int i = 0; i < 300000; i++) { /* doubles of every size, printed with 17 digits or fewer */
        uint64_t bits = random_bits();
        double x;
        memcpy(&x, &bits, sizeof x);
        if (i % 2) x = ((double)(int64_t)bits) * 0x1p-60 * pow(10, (int)(random_bits() % 30) - 15);
        if (!isfinite(x)) continue;
        sprintf(s, "%.*g", 1 + (int)(random_bits() % 17), x);
        if (!agrees(s)) break;
        sprintf(s, "%.17g", x);
        if (!agrees(s)) break;
    }
    for (int i = 0; i < 3000;
         i++) { /* exactly half way between two doubles, and a hair beside: up to 770 digits */
        uint64_t bits = random_bits();
        if (i % 2) bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (1000 + bits % 60) << 52; /* few digits */
        double x, up;
        memcpy(&x, &bits, sizeof x);
        up = nextafter(x, INFINITY);
        if (!isfinite(x) || !isfinite(up)) continue;
        long double middle = ((long double)x + up) / 2; /* 64 bits hold it, but for the subnormals' edge */
        sprintf(s, "%.800Lg", middle);
        if (!agrees(s)) break;
        if (!strchr(s, 'e') && strchr(s, '.')) {
            strcat(s,
                   "0000000000000000000000000000000000000000000000000000000000000000000000000000000000001");
            if (!agrees(s)) break;
        }
    }
    static const char *const odd[] = {"0",
                                      "-0",
                                      "0.0",
                                      ".5",
                                      "5.",
                                      "00012",
                                      "1e0",
                                      "1E+5",
                                      "1e-5",
                                      "-0e99999999999999999999",
                                      "1e308",
                                      "1.7976931348623157e308",
                                      "1.7976931348623159e308",
                                      "1e309",
                                      "-1e99999999999999999999",
                                      "1e-400",
                                      "4.9e-324",
                                      "2.4e-324",
                                      "2.5e-324",
                                      "2.2250738585072011e-308",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "9999999999999999999e27",
                                      "9999999999999999999e-27",
                                      "1e22",
                                      "1e23",
                                      "0.000000000000000000000000000012345678901234567",
                                      "123456789012345678901234567890",
                                      "0.1",
                                      "0.3",
                                      "8.5e-27",
                                      "6.631236846766476e-316",
                                      "00000000000000000000000000000000000000000000000001.5e3"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) agrees(odd[i]);
    memset(s, '7', sizeof s); /* more digits than are kept, and an exponent that makes up for it */
    s[0] = '1';
    strcpy(s + 1000, "e-1000");
    agrees(s);
    memset(s, '0', 1000);
    strcpy(s + 1000, "1e1000");
    s[1] = '.';
    agrees(s);
}

TEST(numbers_with_too_many_digits_round_by_the_last) {
    /* 1 + 2^-53 exactly, a tie that goes down; with a 1 a thousand digits further it goes up */
    char s[1200];
    double x;
    int n = sprintf(s, "1.00000000000000011102230246251565404236316680908203125");
    CHECK(ks_number_parse(s, (size_t)n, &x) == KS_NUMBER && x == 1.0);
    memset(s + n, '0', 1000);
    s[n + 1000] = '1';
    CHECK(ks_number_parse(s, (size_t)n + 1001, &x) == KS_NUMBER && x == nextafter(1.0, 2.0));
}

TEST(numbers_do_not_depend_on_the_locale) {
    int set = set_comma_locale();
    double x = 0, y = 0, z = 0;
    CHECK(ks_number_parse("1.5", 3, &x) == KS_NUMBER && x == 1.5);
    CHECK(ks_number_parse("1.23456789012345678901e-30", 26, &y) == KS_NUMBER);
    CHECK(ks_number_parse("1,5", 3, &z) == KS_NO_NUMBER);
    setlocale(LC_ALL, "C");
    CHECK(y == 1.23456789012345678901e-30);
    if (!set) SKIP(NO_COMMA_LOCALE);
}

TEST(numbers_of_other_programs) {
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1d5", 1e5},
                 {"1.0D+02", 100},
                 {"-2.5D-03", -2.5e-3},
                 {"\xe2\x88\x92"
                  "1.5",
                  -1.5},
                 {"1e\xe2\x88\x92"
                  "3",
                  1e-3},
                 {"\xe2\x88\x92inf", -INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 0;
        CHECK_MSG(ks_number_parse(cases[i].text, strlen(cases[i].text), &x) == KS_NUMBER &&
                      x == cases[i].value,
                  "%s: %g", cases[i].text, x);
    }
    static const char *const begin[] = {"0x10",
                                        "5 kg",
                                        "1st",
                                        "-.5x",
                                        "\xe2\x88\x92"
                                        "1a",
                                        "7"};
    static const char *const not_begin[] = {"", "x1", "-", ".", "-x", "\xe2\x88", "#1"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        CHECK_MSG(ks_number_begins(begin[i], strlen(begin[i])), "%s", begin[i]);
    for (size_t i = 0; i < sizeof not_begin / sizeof *not_begin; i++)
        CHECK_MSG(!ks_number_begins(not_begin[i], strlen(not_begin[i])), "%s", not_begin[i]);
}

TEST(fields_that_are_no_numbers) {
    static const char *const bad[] = {
        "abc",   "0x1p3", "0x10", "1e",   "1e+",   "e5",    "1d",       "1.2.3", "1 2",     "--1",  "+-1",
        "1_000", "1,5",   ".",    "-",    "+",     "1f",    "12abc",    "inff",  "infinit", "nanx", "nan(1)",
        "-na",   "??",    "n a",  "none", "1e5.5", "1e1e1", "\xd9\xa1", "-.",    "+.e1",    "1e--5"};
    double x;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_MSG(ks_number_parse(bad[i], strlen(bad[i]), &x) == KS_NO_NUMBER, "%s", bad[i]);
    static const char *const missing[] = {"",    "NA",  "na",   "N/A",  "n/a",  "?",   "nan",
                                          "NaN", "NAN", "-nan", "+NaN", "null", "NULL"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        x = 0;
        CHECK_MSG(ks_number_parse(missing[i], strlen(missing[i]), &x) == KS_MISSING && isnan(x), "%s",
                  missing[i]);
    }
    static const char *const infinite[] = {"inf",      "Inf",      "+inf", "INF",
                                           "infinity", "Infinity", "-inf", "-Infinity"};
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        CHECK_MSG(ks_number_parse(infinite[i], strlen(infinite[i]), &x) == KS_NUMBER &&
                      x == (infinite[i][0] == '-' ? -INFINITY : INFINITY),
                  "%s", infinite[i]);
    CHECK(ks_number_has_comma("1,5", 3) && ks_number_has_comma("-1,5e3", 6) && ks_number_has_comma(",5", 2));
    CHECK(!ks_number_has_comma("1.5", 3) && !ks_number_has_comma("a,5", 3) &&
          !ks_number_has_comma("1,2,3", 5) && !ks_number_has_comma("15", 2) && !ks_number_has_comma(",", 1));
}

int main(void) {
    RUN(numbers_are_those_of_strtod);
    RUN(numbers_with_too_many_digits_round_by_the_last);
    RUN(numbers_do_not_depend_on_the_locale);
    RUN(numbers_of_other_programs);
    RUN(fields_that_are_no_numbers);
    return test_done();
}

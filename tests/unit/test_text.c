/* Text files: the layout rules one by one, and matrices printed in every dialect. */
#include "help/data.h"
#include "help/failing_alloc.h"
#include "formats/array.h"
#include "help/random_bits.h"
#include "test.h"

static kspec_error err;

/* Parses exactly these bytes, in memory of just that size so that a sanitizer sees any step beyond. */
static kspec_status parse_bytes(const char *text, size_t size, const char *select, ks_array *out) {
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    ks_bytes b = {.data = copy, .size = size};
    err.msg[0] = 0;
    kspec_status st = ks_text_parse(&b, select, "x.csv", out, &err);
    CHECK_MSG(b.data == copy, "the bytes are still the caller's");
    free(copy);
    if (st)
        CHECK_MSG(!out->data && !out->col_names && !out->storage.heap, "a failure leaves the array empty");
    return st;
}

static kspec_status parse(const char *text, ks_array *out) {
    return parse_bytes(text, strlen(text), NULL, out);
}

/* The text reads as this rows x cols matrix (NaN equals NaN), with these names ('|' between) or none. */
static void check_reads(int line, const char *text, const char *select, size_t rows, size_t cols,
                        const double *want, const char *names) {
    ks_array a;
    kspec_status st = parse_bytes(text, strlen(text), select, &a);
    CHECK_MSG(st == KSPEC_OK, "line %d: %s", line, err.msg);
    if (st) return;
    CHECK_MSG(a.ndim == 2 && a.shape[0] == rows && a.shape[1] == cols, "line %d: %zu x %zu", line, a.shape[0],
              a.shape[1]);
    if (a.shape[0] == rows && a.shape[1] == cols)
        for (size_t i = 0; i < rows * cols; i++)
            CHECK_MSG(a.data[i] == want[i] || (isnan(a.data[i]) && isnan(want[i])),
                      "line %d: entry %zu is %g", line, i, a.data[i]);
    CHECK_MSG(!a.col_names == !names, "line %d", line);
    if (a.col_names && names) {
        char all[500] = "";
        for (size_t j = 0; j < cols; j++) {
            if (j) strcat(all, "|");
            strcat(all, a.col_names[j]);
        }
        CHECK_MSG(strcmp(all, names) == 0, "line %d: names %s", line, all);
    }
    CHECK((a.col_index != NULL) == (select != NULL));
    ks_array_free(&a);
}

#define READS(text, rows, cols, names, ...) \
    check_reads(__LINE__, text, NULL, rows, cols, (const double[]){__VA_ARGS__}, names)
#define READS_SELECTED(text, select, rows, cols, names, ...) \
    check_reads(__LINE__, text, select, rows, cols, (const double[]){__VA_ARGS__}, names)
#define REFUSES(text, message)                                        \
    do {                                                              \
        ks_array refused;                                             \
        CHECK_FAILS(parse(text, &refused), KSPEC_E_IO, err, message); \
    } while (0)

/* ------------------------------------------------------------------- layout */

TEST(delimiters_are_told_by_content) {
    READS("1,2,3\n4,5,6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS("1\t2\t3\n4\t5\t6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS("1;2;3\n4;5;6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS("1 2 3\n4 5 6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS("  1   2 3  \n 4 5    6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS("1 , 2,\t3 \n4, 5 ,6\n", 2, 3, NULL, 1, 2, 3, 4, 5, 6);
    READS(" 1\t2 \n3 \t 4\n", 2, 2, NULL, 1, 2, 3, 4);
    READS("1\n2\n3\n", 3, 1, NULL, 1, 2, 3);
    READS("7", 1, 1, NULL, 7);
    READS("\"a,b,c\";d\n1;2\n", 1, 2, "a,b,c|d", 1, 2);        /* commas in quotes do not count */
    READS("a;b,x,y\n1;2\n3;4\n", 2, 2, "a|b,x,y", 1, 2, 3, 4); /* nor where other rows have none */
    READS("x,a;b\n1,2\n3,4\n5,6\n", 3, 2, "x|a;b", 1, 2, 3, 4, 5, 6);
    READS("a\tb, c\n1\t2\n", 1, 2, "a|b, c", 1, 2);
    READS_SELECTED("a;b,1\nc,2\nd,3\n", "1", 3, 1, NULL, 1, 2, 3); /* a semicolon in one text field */
    READS("\t1\t2\n3\t4\t5\n", 2, 3, NULL, NAN, 1, 2, 3, 4, 5);
    READS("\t1\n\t2\n", 2, 2, NULL, NAN, 1, NAN, 2);
}

TEST(lines_end_in_every_way) {
    READS("1,2\r\n3,4\r\n", 2, 2, NULL, 1, 2, 3, 4);
    READS("1,2\r3,4\r", 2, 2, NULL, 1, 2, 3, 4);
    READS("1,2\r3,4", 2, 2, NULL, 1, 2, 3, 4);
    READS("1,2\n\n\n3,4\r\n\r\n \t \n5,6", 3, 2, NULL, 1, 2, 3, 4, 5, 6);
    READS("\xef\xbb\xbf"
          "1,2\n",
          1, 2, NULL, 1, 2);
    READS("\xef\xbb\xbf\"a\",b\n1,2\n", 1, 2, "a|b", 1, 2);
    READS("# a b c\n1 2 3\n", 1, 3, NULL, 1, 2, 3);
    READS("# 1;2;3\n  # more\n1 2 3\n#4 5 6\n7 8 9\n#", 2, 3, NULL, 1, 2, 3, 7, 8, 9);
    READS("1,2,\n3,4,\n", 2, 2, NULL, 1, 2, 3, 4); /* every line ends in a delimiter */
    READS("a,b,\n1,2,\r\n3,4, \n", 2, 2, "a|b", 1, 2, 3, 4);
    READS("a,b,c\n1,2,\n3,4,\n", 2, 3, "a|b|c", 1, 2, NAN, 3, 4, NAN); /* a named column is not dropped */
    READS("1,2,\n3,4,5\n", 2, 3, NULL, 1, 2, NAN, 3, 4, 5);
    READS("1,2,\"\"\n3,4,\"\"\n", 2, 3, NULL, 1, 2, NAN, 3, 4, NAN);
}

TEST(quotes_protect) {
    READS("\"1.5\",\" 2 \"\n", 1, 2, NULL, 1.5, 2);
    READS("\"a\"\"b\";\"c;d\"\n1;2\n", 1, 2, "a\"b|c;d", 1, 2);
    READS("\"two\nlines\",b\n1,2\n", 1, 2, "two lines|b", 1, 2);
    READS("\"a b\" c\n1 2\n", 1, 2, "a b|c", 1, 2);
    READS("a\"b,c\n1,2\n", 1, 2, "a\"b|c", 1, 2); /* a quote inside a field is a character */
    READS("\"NA\",\"\"\n1,2\n", 2, 2, NULL, NAN, NAN, 1, 2);
    REFUSES("a,\"b\n1,2\n", "x.csv: line 1 has a quote that is not closed");
    REFUSES("a,b\n1,2\n3,\"4\n5,6\n", "x.csv: line 3 has a quote that is not closed");
    REFUSES("\"a\"b,c\n1,2\n", "x.csv: line 1 has text after a closing quote");
    REFUSES("\"a\"b c\n1 2\n", "x.csv: line 1 has text after a closing quote");
    REFUSES("1,2\n\"a\nb\nc\",x\n\"",
            "x.csv: line 5 has a quote that is not closed"); /* lines in quotes count */
}

TEST(headers_are_told_by_the_rows_below) {
    READS("a,b\n1,2\n", 1, 2, "a|b", 1, 2);
    READS("a b\n1 2\n", 1, 2, "a|b", 1, 2);
    READS("year;2019;2020\n1;2;3\n", 1, 3, "year|2019|2020", 1, 2, 3);
    READS(",a\n0,5\n1,6\n", 2, 2, "|a", 0, 5, 1, 6);                     /* pandas: an index without a name */
    READS("a,b\nNA,?\n1,2\n", 2, 2, "a|b", NAN, NAN, 1, 2);              /* missing values say nothing */
    READS("?,NA\n1,2\n", 2, 2, NULL, NAN, NAN, 1, 2);                    /* nor are they names */
    READS_SELECTED("1,Bob,2\n3,Ann,4\n", "0,2", 2, 2, NULL, 1, 2, 3, 4); /* text is not a header */
    READS_SELECTED("1,Bob,2\n3,?,4\n5,17,6\n7,Eve,8\n", "0,2", 4, 2, NULL, 1, 2, 3, 4, 5, 6, 7, 8);
    READS_SELECTED("id,who,x\n1,Bob,2\n3,Ann,4\n", "x,id", 2, 2, "x|id", 2, 1, 4, 3);
    READS("Gr\xc3\xb6\xc3\x9f"
          "e,\xff\xe4,b\n1,2,3\n",
          1, 3,
          "Gr\xc3\xb6\xc3\x9f"
          "e|??|b",
          1, 2, 3);
    REFUSES("1.5,2,x\n3,4,5\n", "x.csv: line 1, column 2: 'x' is not a number"); /* data, not names */
    REFUSES("3,None,1,2\n3,4,5,6\n", "x.csv: line 1, column 1: 'None' is not a number");
    REFUSES("x,None,1,2,3\n3,4,5,6,7\n", "x.csv: line 1, column 0: 'x' is not a number"); /* 2 of 5 */
    REFUSES("1,2,x\n3,4,5\n", "x.csv: line 1, column 2: 'x' is not a number");
    READS_SELECTED("3,None,1,2\n3,4,5,6\n", "0,2-3", 2, 3, NULL, 3, 1, 2, 3, 5, 6);
    READS("x,y,1,2\n3,4,5,6\n", 1, 4, "x|y|1|2", 3, 4, 5, 6); /* half are words */
    READS(",,x,1\n3,4,5,6\n", 1, 4, "||x|1", 3, 4, 5, 6);     /* of what is there */
    READS("country,2020,2021,2022\n1,2,3,4\n", 1, 4, "country|2020|2021|2022", 1, 2, 3, 4);
    REFUSES("a\n1\nabc\n2\n", "x.csv: line 3, column 0: 'abc' is not a number; leave the column out");
    REFUSES("a,b\n", "x.csv has no numbers: its only row is line 1");
    REFUSES("Bob,Ann\nEve,Joe\n", "line 1, column 0: 'Bob' is not a number");
}

/* A first line of numbers that other programs write is data; one that may be spoilt numbers is refused. */
TEST(a_row_of_data_is_not_lost_as_a_header) {
    READS("\xe2\x88\x92"
          "1,2,3\n4,5,6\n",
          2, 3, NULL, -1, 2, 3, 4, 5, 6);
    READS("1.0D+02,2\n3,4\n", 2, 2, NULL, 100, 2, 3, 4);
    READS("1d2 2\n3 4\n", 2, 2, NULL, 100, 2, 3, 4);
    READS("1.5D\xe2\x88\x92"
          "01,2\n3,\xe2\x88\x92"
          "inf\n",
          2, 2, NULL, 0.15, 2, 3, -INFINITY);
    REFUSES("0x10,1\n2,3\n4,5\n",
            "x.csv: line 1 may be numbers or names: '0x10,1'; correct the numbers, or put names in quotes");
    REFUSES("1,2 # c\n2,3\n4,5\n", "x.csv: line 1 may be numbers or names: '1,2 # c'; correct");
    REFUSES("# c\n\n5 kg;6 kg\r\n2;3\n4;5\n", "x.csv: line 3 may be numbers or names: '5 kg;6 kg'; ");
    REFUSES("\"0x10\",\"1\"\n\"2\",\"3\"\n", "line 1 may be numbers or names: '\"0x10\",\"1\"'");
    READS("\"1st\",\"2nd\"\n2,3\n4,5\n", 2, 2, "1st|2nd", 2, 3, 4, 5);         /* quotes settle it */
    READS("id,1st,2nd\n2,3,4\n4,5,6\n", 2, 3, "id|1st|2nd", 2, 3, 4, 4, 5, 6); /* so does a word */
    READS("\xe2\x88\x92x,y\n2,3\n", 1, 2, "\xe2\x88\x92x|y", 2, 3);
    READS("D1,e2\n2,3\n", 1, 2, "D1|e2", 2, 3);
    READS("\xe2\x88,2\n3,4\n", 1, 2, "??|2", 3, 4); /* the beginning of a minus */
}

/* 0,1,2,...: the names that pandas gives to columns without. */
TEST(numbered_columns) {
    READS("0,1,2\n5,6,7.5\n", 1, 3, "0|1|2", 5, 6, 7.5);
    READS("0,1,2\n5,6,7\n8,9e3,NA\n", 2, 3, "0|1|2", 5, 6, 7, 8, 9e3, NAN);
    READS("\"0\";\"1\";\"2\"\n5;6;0.5\n", 1, 3, "0|1|2", 5, 6, 0.5);
    READS_SELECTED("0,1,2\n5,6,7.5\n", "2,0", 1, 2, "2|0", 7.5, 5);
    READS_SELECTED("0,1,2\n5,6,7.5\n", "1-2", 1, 2, "1|2", 6, 7.5);
    READS("0,1,2\n5,-6,7\n", 2, 3, NULL, 0, 1, 2, 5, -6, 7); /* whole numbers below: one of them */
    READS("0,1,3\n5,6,7.5\n", 2, 3, NULL, 0, 1, 3, 5, 6, 7.5);
    READS("00,1,2\n5,6,7.5\n", 2, 3, NULL, 0, 1, 2, 5, 6, 7.5);
    READS("0,01,2\n5,6,7.5\n", 2, 3, NULL, 0, 1, 2, 5, 6, 7.5);
    READS("0,1,2.0\n5,6,7.5\n", 2, 3, NULL, 0, 1, 2, 5, 6, 7.5);
    READS("1,2,3\n5,6,7.5\n", 2, 3, NULL, 1, 2, 3, 5, 6, 7.5);
    READS("0,1\n0.5,0.75\n", 2, 2, NULL, 0, 1, 0.5, 0.75); /* too few to tell them from data */
    READS("0\n0.5\n", 2, 1, NULL, 0, 0.5);
    char text[200] = "", *p = text;
    double row[12];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 12; j++) {
            row[j] = j + 0.5;
            p += sprintf(p, i ? "%d.5%c" : "%d%c", j, j == 11 ? '\n' : ' ');
        }
    check_reads(__LINE__, text, NULL, 1, 12, row, "0|1|2|3|4|5|6|7|8|9|10|11");
    text[strlen("0 1 2 3 4 5 6 7 8 9 1")] = '1'; /* 11 for 10 */
    ks_array a;
    CHECK(parse(text, &a) == KSPEC_OK && a.shape[0] == 2 && !a.col_names);
    ks_array_free(&a);
}

TEST(selected_columns_alone_are_converted) {
    READS_SELECTED("1,x,3\n4,y,6\n", "2,0", 2, 2, NULL, 3, 1, 6, 4);
    READS_SELECTED("a,citric acid,c\n1,2,3\n4,5,6\n", "citric acid", 2, 1, "citric acid", 2, 5);
    READS_SELECTED("a,\"c,d\",c\n1,2,3\n4,5,6\n", "c,d,a", 2, 2, "c,d|a", 2, 1, 5, 4);
    READS_SELECTED("1,2,\n3,4,\n", "1", 2, 1, NULL, 2, 4);
    ks_array a;
    CHECK_FAILS(parse_bytes("1,2\n", 4, "2", &a), KSPEC_E_ARG, err,
                "column 2 is out of range: x.csv has 2 columns, 0 to 1");
    CHECK_FAILS(parse_bytes("1,2,\n", 5, "2", &a), KSPEC_E_ARG, err, "x.csv has 2 columns, 0 to 1");
    CHECK_FAILS(parse_bytes("ab,c\n1,2\n", 9, "av", &a), KSPEC_E_ARG, err, "did you mean 'ab'?");
    CHECK_FAILS(parse_bytes("1,2\n", 4, "a", &a), KSPEC_E_ARG, err, "column 'a' is not a number or a range");
}

TEST(malformed_text_is_refused) {
    REFUSES("1,2,3\n4,5\n", "x.csv: line 2 has 2 fields, line 1 has 3");
    REFUSES("# c\n\n1,2,3,4,5\n1,2,3,4,5\n\n\n1,2,3,4\n", "x.csv: line 7 has 4 fields, line 3 has 5");
    REFUSES("1 2\n3\n", "x.csv: line 2 has 1 field, line 1 has 2");
    REFUSES("1,2,\n3,4\n", "x.csv: line 2 has 2 fields, line 1 has 3");
    REFUSES("1,2\n3,abc\n", "x.csv: line 2, column 1: 'abc' is not a number; leave the column out");
    REFUSES("a;b\n1,5;2\n", "x.csv: line 2, column 0: '1,5' has a decimal comma; kspec reads decimal points");
    REFUSES("1,5;2\n2,5;3\n", "x.csv: line 1, column 0: '1,5' has a decimal comma");
    REFUSES("1,5\t2\n2,5\t3\n", "has a decimal comma");
    REFUSES("", "x.csv has no numbers");
    REFUSES("\n \n# nothing\n", "x.csv has no numbers: blank lines and comments only");
    REFUSES("\xef\xbb\xbf", "x.csv has no numbers");
    REFUSES("\xff\xfe"
            "1",
            "x.csv is not text (byte 0xff at offset 0: UTF-16); save it as UTF-8");
    REFUSES("\xfe\xff"
            "1",
            "x.csv is not text (byte 0xfe at offset 0: UTF-16)");
    REFUSES("1,2\n3,\x01\x02zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n", "'?\?zzzz");
    REFUSES("1,2\n3,\"a\nb\"\n", "line 2, column 1: 'a?b' is not a number");
    ks_array a;
    CHECK_FAILS(parse_bytes("1,2,3,4,5\n12,4,5,\0,1", 20, NULL, &a), KSPEC_E_IO, err,
                "x.csv is not text (byte 0x00 at offset 17)");
}

/* --------------------------------------------------------------- round trip */

typedef struct {
    char *s;
    size_t n;
} printed;

static void put(printed *t, const char *s) {
    size_t len = strlen(s);
    memcpy(t->s + t->n, s, len);
    t->n += len;
}

/* Random matrices, printed in every dialect, come back to the last bit. */
TEST(every_dialect_reads_back) {
    static const char *const delims[] = {",", ";", "\t", " ", "  \t ", " , "}, *const ends[] = {"\n", "\r\n",
                                                                                                "\r"};
    static char room[1 << 20];
    for (int round = 0; round < 3; round++)
        for (int dialect = 0; dialect < 6 * 3 * 32; dialect++) {
            const char *delim = delims[dialect % 6], *end = ends[dialect / 6 % 3];
            int flags = dialect / 18, header = flags & 1, quoted = flags & 2, bom = flags & 4,
                no_last = flags & 8;
            int trailing = (flags & 16) && dialect % 6 != 3 && dialect % 6 != 4;
            size_t rows = 1 + random_bits() % 7, cols = 1 + random_bits() % 6;
            if (cols == 1 && trailing) cols = 2; /* one column and a delimiter is two of any */
            double want[42];
            printed t = {room, 0};
            if (bom) put(&t, "\xef\xbb\xbf");
            for (size_t i = 0; i < rows + (size_t)header; i++) {
                for (size_t j = 0; j < cols; j++) {
                    char field[64];
                    if (header && i == 0) {
                        sprintf(field, quoted ? "\"c%s%zu\"\"\"" : "c%.0s%zu", delim, j);
                    } else {
                        uint64_t bits = random_bits();
                        double x;
                        memcpy(&x, &bits, sizeof x);
                        if (!isfinite(x) || round == 0) x = ldexp((double)(int64_t)bits, -63);
                        want[(i - (size_t)header) * cols + j] = x;
                        sprintf(field, quoted && bits % 2 ? "\"%.17g\"" : "%.17g", x);
                    }
                    if (j) put(&t, delim);
                    put(&t, field);
                }
                if (trailing) put(&t, delim);
                if (!(no_last && i + 1 == rows + (size_t)header)) put(&t, end);
                if (random_bits() % 9 == 0 && !no_last) put(&t, end);
            }
            ks_array a;
            kspec_status st = parse_bytes(room, t.n, NULL, &a);
            CHECK_MSG(!st && a.shape[0] == rows && a.shape[1] == cols && !a.col_names == !header &&
                          memcmp(a.data, want, rows * cols * sizeof *want) == 0,
                      "dialect %d: %s in\n%.*s", dialect, err.msg, (int)t.n, room);
            if (!st && header) {
                char name[64];
                sprintf(name, quoted ? "c%s%zu\"" : "c%.0s%zu", delim, cols - 1);
                for (char *p = name; *p; p++)
                    if (*p == '\t') *p = ' ';
                CHECK_MSG(strcmp(a.col_names[cols - 1], name) == 0, "dialect %d: %s", dialect,
                          a.col_names[cols - 1]);
            }
            if (!st) ks_array_free(&a);
        }
}

/*
 * A long file, whose rows are counted rather than scanned, with something odd on line 150: quotes, another
 * line end, a blank line, a comment, a missing value, too few fields.
 */
TEST(long_files_with_something_odd) {
    static const char *const delims[] = {",", "\t", "  "};
    static const char *const odd[] = {"",
                                      "\"7\"%1$s8%1$s9\n",
                                      "7%1$s8%1$s9\r",
                                      "7%1$s8%1$s9\r\n",
                                      "  7%1$s8%1$s9  \n",
                                      "\n\n7%1$s8%1$s9\n",
                                      "# %1$s\n7%1$s8%1$s9\n",
                                      "7%1$sNA%1$s9\n",
                                      "7%1$s8\n",
                                      "7%1$s8%1$s9%1$s10\n",
                                      "7%1$s8%1$sx\n"};
    static char room[1 << 16];
    for (int k = 0; k < 11 * 3 * 2; k++) {
        const char *delim = delims[k % 3], *crlf = k / 3 % 2 ? "\r" : "", *what = odd[k / 6];
        size_t n = 0, extra = k / 6 > 0;
        int blank_line = k / 6 == 5;
        for (size_t i = 0; i < 300; i++) {
            if (i == 149) n += (size_t)sprintf(room + n, what, delim);
            n += (size_t)sprintf(room + n, "%zu%s%zu%s%zu%s\n", i, delim, i + 1, delim, i + 2, crlf);
        }
        ks_array a;
        kspec_status st = parse_bytes(room, n, NULL, &a);
        if (k / 6 < 8) {
            CHECK_MSG(!st && a.shape[0] == 300 + extra && a.shape[1] == 3 &&
                          a.data[3 * (299 + extra)] == 299 && a.data[3 * 148] == 148 &&
                          a.data[3 * (149 + extra)] == 149 &&
                          (!extra || (a.data[3 * 149] == 7 && a.data[3 * 149 + 2] == 9)),
                      "case %d: %s", k, err.msg);
            if (!st) ks_array_free(&a);
        } else {
            CHECK_FAILS(st, KSPEC_E_IO, err,
                        k / 6 == 8   ? "line 150 has 2 fields, line 1 has 3"
                        : k / 6 == 9 ? "line 150 has 4 fields, line 1 has 3"
                                     : "line 150, column 2: 'x' is not a number");
        }
        /* the same, with a bad field on the last line: lines are counted right */
        if (k / 6 < 8) {
            memcpy(room + n, "x\n", 3);
            char want[64];
            sprintf(want, "line %zu has 1 field, line 1 has 3",
                    301 + extra + 2 * (size_t)blank_line + (k / 6 == 6));
            CHECK_FAILS(parse_bytes(room, n + 2, NULL, &a), KSPEC_E_IO, err, want);
        }
    }
}

/* Every line ends in a delimiter, but for one far down. */
TEST(a_late_last_column) {
    static char room[1 << 14];
    for (int late = 0; late < 2; late++) {
        size_t n = 0;
        for (size_t i = 0; i < 300; i++)
            n += (size_t)sprintf(room + n, "%zu, 2 ,%s\n", i, late && i == 250 ? "3" : i % 2 ? " " : "");
        ks_array a;
        CHECK(parse_bytes(room, n, NULL, &a) == KSPEC_OK && a.shape[0] == 300 &&
              a.shape[1] == (late ? 3 : 2));
        if (late) CHECK(a.data[3 * 250 + 2] == 3 && isnan(a.data[2]));
        ks_array_free(&a);
    }
}

TEST(allocations_may_fail) {
    static const char text[] = "a,b,c\n1,2,3\n4,5,6\n";
    failing_alloc_install();
    long k = 0;
    for (; k < 20; k++) {
        ks_array a;
        failing_alloc_arm(k);
        kspec_status st = parse_bytes(text, sizeof text - 1, "c,a", &a);
        if (!st) ks_array_free(&a);
        CHECK_MSG(failing_alloc_live() == 0, "%ld", k);
        if (!st) break;
        CHECK(st == KSPEC_E_NOMEM && err.msg[0]);
    }
    CHECK_MSG(k == 8, "%ld", k);
    failing_alloc_uninstall();
}

/* ---------------------------------------------------------------- real files */

static kspec_status parse_file(const char *file, const char *select, ks_array *out, int *absent) {
    const char *path = find_data(file);
    *absent = !path;
    if (!path) return KSPEC_E_IO;
    ks_bytes b;
    CHECK_MSG(ks_bytes_open(&b, path, &err) == KSPEC_OK, "%s", err.msg);
    kspec_status st = ks_text_parse(&b, select, file, out, &err);
    ks_bytes_close(&b);
    return st;
}

TEST(wine) {
    ks_array a;
    int absent;
    kspec_status st = parse_file("wine/winequality-white.csv", NULL, &a, &absent);
    if (absent) SKIP_WITHOUT("wine/winequality-white.csv");
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    if (st) return;
    CHECK(a.shape[0] == 4898 && a.shape[1] == 12);
    CHECK(strcmp(a.col_names[0], "fixed acidity") == 0 && strcmp(a.col_names[11], "quality") == 0);
    CHECK(a.data[0] == 7 && a.data[3] == 20.7 && a.data[7] == 1.001 && a.data[11] == 6);
    ks_array_free(&a);
    CHECK(parse_file("wine/winequality-white.csv", "alcohol,citric acid,0-1", &a, &absent) == KSPEC_OK);
    CHECK(a.shape[1] == 4 && a.data[0] == 8.8 && a.data[1] == 0.36 && a.data[2] == 7 && a.data[3] == 0.27);
    CHECK(strcmp(a.col_names[1], "citric acid") == 0);
    ks_array_free(&a);
    CHECK_FAILS(parse_file("wine/winequality-white.csv", "alcohl", &a, &absent), KSPEC_E_ARG, err,
                "did you mean 'alcohol'?");
}

TEST(communities) {
    ks_array a;
    int absent;
    kspec_status st = parse_file("communities/communities.data", NULL, &a, &absent);
    if (absent) SKIP_WITHOUT("communities/communities.data");
    CHECK_FAILS(st, KSPEC_E_IO, err,
                "line 1, column 3: 'Lakewoodcity' is not a number; leave the column out");
    st = parse_file("communities/communities.data", "5-126", &a, &absent);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    if (st) return;
    CHECK(a.shape[0] == 1994 && a.shape[1] == 122 && !a.col_names && a.col_index && a.col_index[0] == 5 &&
          a.col_index[121] == 126);
    size_t incomplete = 0;
    for (size_t j = 0; j < 122; j++) {
        size_t missing = 0;
        for (size_t i = 0; i < 1994; i++) missing += isnan(a.data[i * 122 + j]) != 0;
        incomplete += missing == 1675;
    }
    CHECK_MSG(incomplete == 22, "%zu", incomplete);
    CHECK(a.data[0] == 0.19 && a.data[121] == 0.14 && a.data[122] == 0);
    ks_array_free(&a);
}

int main(void) {
    RUN(delimiters_are_told_by_content);
    RUN(lines_end_in_every_way);
    RUN(quotes_protect);
    RUN(headers_are_told_by_the_rows_below);
    RUN(a_row_of_data_is_not_lost_as_a_header);
    RUN(numbered_columns);
    RUN(selected_columns_alone_are_converted);
    RUN(malformed_text_is_refused);
    RUN(every_dialect_reads_back);
    RUN(long_files_with_something_odd);
    RUN(a_late_last_column);
    RUN(allocations_may_fail);
    RUN(wine);
    RUN(communities);
    return test_done();
}

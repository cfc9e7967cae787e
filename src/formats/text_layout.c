/* Finds the layout of a text file: its delimiter, header, rows and columns. */
#include "formats/text.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/number.h"
#include "formats/printable.h"

#include <string.h>

enum { SAMPLE = 100 }; /* rows that decide */

/* ---- delimiter ---- */

static const char candidates[] = ";\t,"; /* in order of preference */
enum { CANDIDATES = 3 };

/* Counts the possible delimiters outside quotes in the row at sc, which moves to the next line. */
static void count_candidates(ks_scanner *sc, size_t count[CANDIDATES]) {
    int quoted = 0, field_start = 1;
    for (; sc->p < sc->end && (quoted || (*sc->p != '\n' && *sc->p != '\r')); sc->p++) {
        char c = *sc->p;
        if (c == '"' && (quoted || field_start)) quoted = !quoted;
        if (quoted) continue;
        field_start = c == ' ' || c == '"'; /* "" closes and reopens */
        for (int k = 0; k < CANDIDATES; k++)
            if (c == candidates[k]) {
                count[k]++;
                field_start = 1;
            }
    }
}

/*
 * Finds the delimiter, which is the character that occurs equally often in the most rows. So a semicolon in
 * one text field or a comma in one number does not decide. Among equals the semicolon wins, then the tab,
 * because a comma in a file with semicolons is a decimal comma. If no possible delimiter occurs, blanks
 * delimit.
 */
static char find_delimiter(ks_scanner sc) {
    sc.delim = '\t'; /* counts leading tabs */
    size_t first[CANDIDATES] = {0}, agree[CANDIDATES] = {0}, total[CANDIDATES] = {0};
    for (int row = 0; row < SAMPLE && ks_scan_row(&sc); row++) {
        size_t count[CANDIDATES] = {0};
        count_candidates(&sc, count);
        for (int k = 0; k < CANDIDATES; k++) {
            if (!row) first[k] = count[k];
            agree[k] += count[k] && count[k] == first[k];
            total[k] += count[k];
        }
    }
    int best = 0;
    for (int k = 1; k < CANDIDATES; k++)
        if (agree[k] > agree[best] || (!agree[best] && !total[best])) best = k;
    return total[best] ? candidates[best] : ' ';
}

/* ---- header ---- */

typedef struct {
    ks_number_kind first;
    int filled;                         /* not empty */
    int decimals;                       /* not only digits */
    int label;                          /* the column's number */
    int doubtful;                       /* The field begins like a number, but is something else. */
    int quoted;                         /* Only the first row is quoted. */
    unsigned numbers, words, fractions; /* Counts of the kinds of fields in the later rows. */
    /*
     * padded counts the fields with a leading 0, such as "05", in all rows. others counts the other fields.
     */
    unsigned padded, others;
} column;

static ks_number_kind kind_of(const ks_field *f) {
    double value;
    ks_number_kind kind = ks_number_parse(f->s, f->len, &value);
    return kind == KS_NO_NUMBER && ks_number_has_comma(f->s, f->len) ? KS_NUMBER : kind;
}

static int is_integer(const ks_field *f) {
    for (size_t i = 0; i < f->len; i++)
        if (f->s[i] < '0' || f->s[i] > '9') return 0;
    return 1;
}

static int is_fraction(const ks_field *f) {
    for (size_t i = 0; i < f->len; i++)
        if (strchr(".,eEdD", f->s[i])) return 1;
    return 0;
}

/* Is the field the decimal number n as written? */
static int is_label(const ks_field *f, size_t n) {
    for (size_t i = f->len; i-- > 0; n /= 10)
        if (f->s[i] != (char)('0' + n % 10) || (n == 0 && i + 1 < f->len)) return 0;
    return f->len && n == 0;
}

/*
 * Do the numbers 0, 1, 2, ... stand above rows with fractions? If so, the numbers are labels, as pandas
 * writes them for columns without names. One or two columns may well begin with measurements 0 or 0, 1, so
 * labels need at least three columns.
 */
static int is_numbered(const column *columns, size_t n) {
    unsigned fractions = 0;
    for (size_t j = 0; j < n; j++) {
        if (!columns[j].label) return 0;
        fractions |= columns[j].fractions;
    }
    return n >= 3 && fractions;
}

/*
 * Decides whether the first row is a header. A header has a word in columns where the rows below mostly have
 * numbers. Its other fields may be whole numbers, such as years. But a fraction or a negative number means
 * that the row contains data and that its word is a damaged entry. Treating a damaged row of data as a header
 * would silently drop it. For the same reason at least half of the fields must be words, unless the only word
 * comes first ("country,2020,2021").
 */
static int is_header(const column *columns, size_t n) {
    if (is_numbered(columns, n)) return 1;
    int found = 0;
    size_t words = 0, filled = 0;
    for (size_t j = 0; j < n; j++) {
        if (columns[j].decimals) return 0;
        found |= columns[j].first == KS_NO_NUMBER && columns[j].numbers > columns[j].words;
        words += columns[j].first == KS_NO_NUMBER;
        filled += columns[j].filled != 0;
    }
    return found && (words >= filled - words || (words == 1 && columns[0].first == KS_NO_NUMBER));
}

/*
 * A word such as 0x10 or "2 # c" may be a name or a damaged number. If every word of the header may be a
 * damaged number, only the user can decide. Quotes mark it as a name, unless the rows below also have quotes.
 */
static int is_doubtful(const column *columns, size_t n) {
    for (size_t j = 0; j < n; j++)
        if (columns[j].first == KS_NO_NUMBER && (!columns[j].doubtful || columns[j].quoted)) return 0;
    return !is_numbered(columns, n);
}

/*
 * Is the text full of decimal commas? For example, 1,05,2,37 may be 1,05 and 2,37. Then every second column
 * contains only digits, some with a leading 0 that no whole number has, and the columns between have neither.
 */
static int is_of_decimal_commas(const column *columns, size_t n, char delim) {
    if (delim != ',' || n % 2) return 0;
    for (size_t j = 0; j < n; j++)
        if (j % 2 ? !columns[j].padded || columns[j].others : columns[j].padded) return 0;
    return 1;
}

/* ---- layout ---- */

static kspec_status fail_doubtful(const ks_layout *l, const char *name, kspec_error *err) {
    char shown[80];
    const char *p = l->first.p, *end = l->body.p;
    while (end > p && (end[-1] == '\n' || end[-1] == '\r')) end--;
    ks_printable(shown, sizeof shown, p, (size_t)(end - p));
    return ks_fail(err, KSPEC_E_IO,
                   "%s: line %zu may be numbers or names: '%s'; correct the numbers, or put names in quotes",
                   name, l->first.line, shown);
}

static kspec_status fail_quote(ks_field_end end, size_t line, const char *name, kspec_error *err) {
    if (end == KS_FIELD_UNCLOSED)
        return ks_fail(err, KSPEC_E_IO, "%s: line %zu has a quote that is not closed", name, line);
    return ks_fail(err, KSPEC_E_IO, "%s: line %zu has text after a closing quote", name, line);
}

/*
 * Counts the fields of a plain row at sc, which has no quotes, and a \r at its end only. The compiler
 * vectorises the loop. For any other row the function returns 0 and moves nothing. The function looks for the
 * \n first. After the first row that is not plain, the caller does not call it again, since in a file of lone
 * \r it would search to the end of the file for every row.
 */
static size_t count_plain_row(ks_scanner *sc, int *last_empty) {
    const char *s = sc->p, *end = memchr(s, '\n', (size_t)(sc->end - s));
    if (!end) return 0;
    size_t len = (size_t)(end - s), n = 1;
    if (len && s[len - 1] == '\r') len--;
    if (memchr(s, '"', len) || memchr(s, '\r', len)) return 0;
    while (len && (s[len - 1] == ' ' || (s[len - 1] == '\t' && sc->delim != '\t'))) len--;
    if (sc->delim == ' ') /* A field begins after the last blank of a run of blanks. */
        for (size_t i = 1; i < len; i++)
            n += (s[i - 1] == ' ' || s[i - 1] == '\t') & !(s[i] == ' ' || s[i] == '\t');
    else
        for (size_t i = 0; i < len; i++) n += s[i] == sc->delim;
    *last_empty = len && s[len - 1] == sc->delim;
    sc->p = end + 1;
    sc->line++;
    return n;
}

/*
 * Reads the row at sc, and classifies its fields if `columns` is given. The first row of the file has number
 * 0.
 */
static kspec_status scan_row(ks_scanner *sc, size_t row, column *columns, size_t ncolumns, size_t *fields,
                             int *last_empty, const char *name, kspec_error *err) {
    size_t n = 0;
    ks_field f;
    for (ks_field_end end = KS_FIELD_MORE; end == KS_FIELD_MORE; n++) {
        end = ks_scan_field(sc, &f);
        if (end > KS_FIELD_LAST) return fail_quote(end, sc->line, name, err);
        if (!columns || n >= ncolumns) continue;
        column *c = &columns[n];
        c->padded += f.len > 1 && f.s[0] == '0' && is_integer(&f);
        c->others += !f.len || !is_integer(&f);
        if (!row) {
            c->first = kind_of(&f);
            c->decimals = c->first == KS_NUMBER && !is_integer(&f);
            c->filled = f.len > 0;
            c->label = is_label(&f, n);
            c->doubtful = ks_number_begins(f.s, f.len);
            c->quoted = f.quoted;
        } else if (c->first == KS_NO_NUMBER || c->label) {
            c->quoted &= !f.quoted;
            ks_number_kind kind = kind_of(&f);
            c->numbers += kind == KS_NUMBER;
            c->words += kind == KS_NO_NUMBER;
            c->fractions += kind == KS_NUMBER && is_fraction(&f);
        }
    }
    *fields = n;
    *last_empty = f.len == 0 && !f.quoted;
    return KSPEC_OK;
}

static kspec_status scan_all(ks_layout *out, ks_scanner sc, column *columns, const char *name,
                             kspec_error *err) {
    size_t first_line = sc.line, rows = 0;
    int all_empty = 1, plain = 1;
    do {
        size_t line = sc.line, fields = 0;
        int last_empty;
        if (rows > SAMPLE && plain) plain = (fields = count_plain_row(&sc, &last_empty)) > 0;
        if (!fields) {
            column *judged = rows <= SAMPLE ? columns : NULL;
            kspec_status st = scan_row(&sc, rows, judged, out->fields, &fields, &last_empty, name, err);
            if (st) return st;
        }
        if (fields != out->fields)
            return ks_fail(err, KSPEC_E_IO, "%s: line %zu has %zu field%s, line %zu has %zu", name, line,
                           fields, fields == 1 ? "" : "s", first_line, out->fields);
        all_empty &= last_empty;
        if (!rows++) out->body = sc;
    } while (ks_scan_row(&sc));

    out->cols = out->fields > 1 && all_empty ? out->fields - 1 : out->fields;
    out->header = is_header(columns, out->cols);
    if (out->header && is_doubtful(columns, out->cols)) return fail_doubtful(out, name, err);
    out->decimal_commas = is_of_decimal_commas(columns, out->cols, sc.delim);
    out->rows = rows - (size_t)out->header;
    if (!out->header) out->body = out->first;
    if (rows > 1) return KSPEC_OK;
    for (size_t j = 0; j < out->cols; j++)
        if (columns[j].first != KS_NO_NUMBER) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_IO, "%s has no numbers: its only row is line %zu", name, first_line);
}

kspec_status ks_text_layout(const char *text, size_t size, const char *name, ks_layout *out,
                            kspec_error *err) {
    *out = (ks_layout){0};
    ks_scanner sc = {text, text + size, 1, ' '};
    sc.delim = find_delimiter(sc);
    if (!ks_scan_row(&sc))
        return ks_fail(err, KSPEC_E_IO, "%s has no numbers: blank lines and comments only", name);
    out->first = sc;

    int last_empty;
    ks_scanner again = sc;
    kspec_status st = scan_row(&again, 0, NULL, 0, &out->fields, &last_empty, name, err);
    if (st) return st;
    column *columns = ks_zalloc(out->fields, sizeof *columns);
    if (!columns) return ks_nomem(err, name, ks_size(out->fields, sizeof *columns));
    st = scan_all(out, sc, columns, name, err);
    ks_free(columns);
    return st;
}

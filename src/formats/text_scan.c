/* Splits a text into rows and fields. */
#include "formats/text.h"

#include "formats/number.h"

static inline int is_blank(const ks_scanner *sc, char c) {
    return c == ' ' || (c == '\t' && sc->delim != '\t');
}

static inline void skip_blanks(ks_scanner *sc) {
    while (sc->p < sc->end && is_blank(sc, *sc->p)) sc->p++;
}

/* Moves from the end of a line to the next line, except at the end of the text. */
static inline void next_line(ks_scanner *sc) {
    if (sc->p == sc->end) return;
    char c = *sc->p++;
    if (c == '\r' && sc->p < sc->end && *sc->p == '\n') sc->p++;
    sc->line++;
}

int ks_scan_row(ks_scanner *sc) {
    for (;;) {
        skip_blanks(sc);
        if (sc->p == sc->end) return 0;
        if (*sc->p == '#')
            while (sc->p < sc->end && *sc->p != '\n' && *sc->p != '\r') sc->p++;
        else if (*sc->p != '\n' && *sc->p != '\r')
            return 1;
        next_line(sc);
    }
}

/*
 * Moves from the opening quote past the closing quote. If no quote closes, returns 0 and does not move the
 * scanner.
 */
static int scan_quoted(ks_scanner *sc, ks_field *f) {
    const char *p = sc->p + 1, *end = sc->end;
    size_t line = sc->line;
    *f = (ks_field){p, 0, 1};
    for (; p < end; p++) {
        if (*p == '\n' || (*p == '\r' && !(p + 1 < end && p[1] == '\n'))) line++;
        if (*p != '"') continue;
        if (p + 1 < end && p[1] == '"') {
            p++;
            continue;
        }
        sc->p = p + 1;
        sc->line = line;
        while (f->s < p && *f->s == ' ') f->s++;
        while (f->s < p && p[-1] == ' ') p--;
        f->len = (size_t)(p - f->s);
        return 1;
    }
    return 0;
}

/* Moves from the end of a field to the next field, or to the next line. */
static inline ks_field_end end_field(ks_scanner *sc) {
    const char *after = sc->p;
    skip_blanks(sc);
    if (sc->p == sc->end || *sc->p == '\n' || *sc->p == '\r') {
        next_line(sc);
        return KS_FIELD_LAST;
    }
    if (sc->delim == ' ') return sc->p > after ? KS_FIELD_MORE : KS_FIELD_TRAILING;
    if (*sc->p != sc->delim) return KS_FIELD_TRAILING;
    sc->p++;
    return KS_FIELD_MORE;
}

ks_field_end ks_scan_field(ks_scanner *sc, ks_field *f) {
    char delim = sc->delim;
    skip_blanks(sc);
    if (sc->p < sc->end && *sc->p == '"') {
        if (!scan_quoted(sc, f)) return KS_FIELD_UNCLOSED;
    } else {
        const char *p = sc->p, *end = sc->end, *s = p;
        if (delim == ' ')
            while (p < end && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r') p++;
        else
            while (p < end && *p != delim && *p != '\n' && *p != '\r') p++;
        sc->p = p;
        while (p > s && is_blank(sc, p[-1])) p--;
        *f = (ks_field){s, (size_t)(p - s), 0};
    }
    return end_field(sc);
}

int ks_scan_number(ks_scanner *sc, double *value, ks_field_end *end) {
    ks_scanner start = *sc;
    skip_blanks(sc);
    const char *p = ks_number_prefix(sc->p, sc->end, value);
    if (p) {
        sc->p = p;
        *end = end_field(sc);
        if (*end <= KS_FIELD_LAST) return 1;
    }
    *sc = start;
    return 0;
}

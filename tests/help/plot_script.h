/* The injection oracle: could anything in a gnuplot script run, but what kspec means to? */
#ifndef PLOT_SCRIPT_H
#define PLOT_SCRIPT_H

#include <string.h>

/* Every text stands in single quotes within its line, and nothing outside of them could run anything. */
static inline int harmless(const char *script) {
    int data = 0;
    for (const char *s = script; *s;) {
        const char *end = strchr(s, '\n');
        size_t n = end ? (size_t)(end - s) : strlen(s);
        if (data) {
            data = !(n == 3 && strncmp(s, "END", 3) == 0);
            if (data && strspn(s, " 0123456789.eE+-Na") < n) return 0;
        } else {
            int quoted = 0;
            for (size_t i = 0; i < n; i++) {
                if (s[i] == '\'') quoted = !quoted;
                if (s[i] == '\'' && !quoted && !strchr(" ,)\n", s[i + 1]))
                    return 0; /* the end of the string, or is it? */
                if (!quoted && strchr("`!\";@|", s[i])) return 0;
                if ((unsigned char)s[i] < 32) return 0;
            }
            if (quoted) return 0;
            data = n > 6 && strncmp(s + n - 6, "<< END", 6) == 0;
        }
        s += n + (end != NULL);
    }
    return !data;
}

#endif

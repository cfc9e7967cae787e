/* A locale with a decimal comma, made for the test, since few systems have one installed. */
#ifndef KSPEC_LOCALE_HELP_H
#define KSPEC_LOCALE_HELP_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_COMMA_LOCALE "cannot make the locale de_DE; run 'sh scripts/setup.sh test'"

/* Makes it from the sources of Debian's package locales and sets it; 0: it cannot. */
static inline int set_comma_locale(void) {
    char folder[] = "/tmp/kspec-test-locale-XXXXXX", make[200], release[100];
    if (!mkdtemp(folder)) return 0;
    snprintf(make, sizeof make, "localedef -f UTF-8 -i de_DE %s/de_DE.UTF-8 2>/dev/null", folder);
    snprintf(release, sizeof release, "rm -r %s", folder);
    setenv("LOCPATH", folder, 1);
    int set = system(make) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") &&
              strcmp(localeconv()->decimal_point, ",") == 0;
    unsetenv("LOCPATH");
    return system(release) == 0 && set;
}

#endif

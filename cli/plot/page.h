/* Text of pages and of pictures: whatever comes in, valid and harmless HTML goes out. */
#ifndef KSPEC_CLI_PAGE_H
#define KSPEC_CLI_PAGE_H

#include <stdio.h>

/* A text of which ^{...} and _{...} are raised and lowered; NULL is nothing */
void page_text(FILE *to, const char *text);
/* The same where tags are not allowed; ^{...} becomes ^... */
void page_plain(FILE *to, const char *text);
/* Every byte as it is, but for what HTML would take for its own */
void page_escape(FILE *to, const char *text);

/* The style that every page of the tool has: phone and paper, light and dark */
void page_style(FILE *to);

/* A picture in SVG without its XML declaration */
void page_svg(FILE *to, const char *svg, size_t size);

#endif

/* Pages, and the text of pictures: whatever comes in, valid and harmless HTML goes out. */
#pragma once

#include <stdio.h>

/* A text of which ^{...} and _{...} are raised and lowered; NULL is nothing */
void page_text(FILE *to, const char *text);
/* The same where tags are not allowed; ^{...} becomes ^... */
void page_plain(FILE *to, const char *text);
/* Every byte as it is, but for what HTML would take for its own */
void page_escape(FILE *to, const char *text);

/* A page of the tool: begin, the window's title, begin_body, what it says, end */
void page_begin(FILE *to);
void page_begin_body(FILE *to);
void page_end(FILE *to);

/*
 * A table with a caption. columns ends in NULL; an empty name is a corner, not a head; NULL: no heads. A row
 * begins with its head; a cell of no number is empty.
 */
void page_begin_table(FILE *to, const char *caption, const char *const *columns);
void page_row_head(FILE *to, const char *text);
void page_cell(FILE *to, double x, int digits);
/* Rounded to its error, as in tables */
void page_cell_rounded(FILE *to, double x, double error);
void page_end_row(FILE *to);
void page_end_table(FILE *to);

/* A picture in SVG without its XML declaration */
void page_svg(FILE *to, const char *svg, size_t size);

/* Writes pages and texts of pictures as valid, harmless HTML, for any input. */
#pragma once

#include <stdio.h>

/* Writes a text with ^{...} raised and _{...} lowered; NULL writes nothing. */
void page_text(FILE *to, const char *text);
/* Writes a text like page_text() where tags are not allowed: ^{...} becomes ^.... */
void page_plain(FILE *to, const char *text);
/* Writes every byte, with HTML's special characters escaped. */
void page_escape(FILE *to, const char *text);

/* To write a page, call page_begin, write the window's title, call page_begin_body, write the content,
 * and call page_end. */
void page_begin(FILE *to);
void page_begin_body(FILE *to);
void page_end(FILE *to);

/* Begins a table with a caption. `columns` contains the column heads and ends with NULL; an empty first
 * head makes an empty corner. If `columns` is NULL, the table has no column heads. Each row begins with a
 * row head. A cell without a number stays empty. */
void page_begin_table(FILE *to, const char *caption, const char *const *columns);
void page_row_head(FILE *to, const char *text);
void page_cell(FILE *to, double x, int digits);
/* Writes a cell with a number rounded to its error, as in tables. */
void page_cell_rounded(FILE *to, double x, double error);
void page_end_row(FILE *to);
void page_end_table(FILE *to);

/* Writes a picture in SVG without its XML declaration. */
void page_svg(FILE *to, const char *svg, size_t size);

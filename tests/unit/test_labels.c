/* kspec_read_labels(): words and numbers, columns of tables, other kinds of files, and what is refused. */
#include "kspec.h"
#include "kspec/host.h"
#include "test.h"

#include <stdarg.h>
#include <unistd.h>

static char dir[] = "/tmp/kspec-labels-XXXXXX";

static const char *put(const char *name, const char *text) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK(kspec_write_text(path, text, strlen(text), NULL) == KSPEC_OK);
    return path;
}

/* The labels are `want`, digits in order of first appearance. */
static void reads(const char *path, const char *column, const char *rows, const char *want) {
    kspec_labels *l = NULL;
    kspec_error err;
    const kspec_read_opts o = {.size = sizeof o, .select_cols = column, .select_rows = rows};
    kspec_status st = kspec_read_labels(path, &o, &l, &err);
    CHECK_MSG(st == KSPEC_OK, "%s: %s", path, err.msg);
    if (st) return;
    char got[64] = "", most = '0' - 1;
    for (size_t i = 0; i < l->count && i < 63; i++) got[i] = (char)('0' + l->of[i]);
    for (const char *p = want; *p; p++)
        if (*p > most) most = *p;
    CHECK_MSG(strcmp(got, want) == 0 && l->groups == (size_t)(most - '0' + 1), "%s: %s, not %s", path, got,
              want);
    kspec_free(l);
}

static void refuses(const char *path, const char *column, kspec_status status, const char *text) {
    kspec_labels *l;
    kspec_error err;
    const kspec_read_opts o = {.size = sizeof o, .select_cols = column};
    CHECK_FAILS(kspec_read_labels(path, &o, &l, &err), status, err, text);
    CHECK(l == NULL);
}

TEST(lines) {
    reads(put("words", "b\na\nb\nc\n"), NULL, NULL, "0102");
    reads(put("blank", "b\n  a \n\nb\r\nc\n\n\n"), NULL, NULL, "0102"); /* not a label: an empty line */
    reads(put("open", "x y\nx z\nx y"), NULL, NULL, "010");
    reads(put("quoted", "\"x, y\"\nx\n\"x, y\"\n"), NULL, NULL, "010");
    reads(put("numbers", "10\n2\n10\n1e1\n"), NULL, NULL, "0102"); /* as they are written */
    reads(put("header", "trial\n4\n4\n7\n"), NULL, NULL, "001");
    reads(put("mixed", "trial\n4\nx\n7\n"), NULL, NULL, "0123"); /* words: no header can be told */
    reads(put("mark", "\xef\xbb\xbf"
                      "a\nb\na\n"),
          NULL, NULL, "010");
    reads(put("few", "a\nb\na\nc\nb\n"), NULL, "4,0-1", "010");
}

TEST(columns) {
    const char *table = "who,x,y\nann,1,2\nbob,3,4\nann,5,6\n";
    reads(put("t.csv", table), "who", NULL, "010");
    reads(put("t.csv", table), "0", NULL, "010");
    reads(put("t.csv", table), "who", "1-2", "01");
    reads(put("n.csv", "g;x\n3;1\n3;2\n1;4\n"), "g", NULL, "001");
    reads(put("plain", "1 5\n1 6\n2 7\n"), "0", NULL, "001");
    kspec_labels *l;
    const kspec_read_opts o = {.size = sizeof o, .select_cols = "y"};
    CHECK(kspec_read_labels(put("t.csv", table), &o, &l, NULL) == KSPEC_OK && l->column == 2 &&
          l->columns == 3);
    kspec_free(l);
}

TEST(arrays) {
    char path[128];
    kspec_writer *w;
    snprintf(path, sizeof path, "%s/x.npy", dir);
    CHECK(kspec_write_open(path, 2, (size_t[]){4, 1}, &w, NULL) == KSPEC_OK);
    CHECK(kspec_write_values(w, (double[]){7, 2.5, 2.5, 7}, 4, NULL) == KSPEC_OK);
    CHECK(kspec_write_close(w, NULL) == KSPEC_OK);
    reads(path, NULL, NULL, "0110");
    CHECK(kspec_write_open(path, 2, (size_t[]){3, 2}, &w, NULL) == KSPEC_OK);
    CHECK(kspec_write_values(w, (double[]){1, 5, 2, 5, 3, NAN}, 6, NULL) == KSPEC_OK);
    CHECK(kspec_write_close(w, NULL) == KSPEC_OK);
    reads(path, "0", NULL, "012");
    refuses(path, NULL, KSPEC_E_IO, "has 2 columns; labels are one");
    refuses(path, "1", KSPEC_E_IO, "the label of row 2 (from 0) is missing");
}

TEST(refusals) {
    char path[128];
    snprintf(path, sizeof path, "%s/none", dir);
    refuses(path, NULL, KSPEC_E_IO, "none");
    refuses("", NULL, KSPEC_E_ARG, "no name");
    refuses(NULL, NULL, KSPEC_E_ARG, "no name");
    refuses(put("empty", "\n \n"), NULL, KSPEC_E_IO, "has no labels");
    refuses(put("t.csv", "who,x\nann,1\n,3\n"), "who", KSPEC_E_IO, "the label of row 1 (from 0) is missing");
    refuses(put("t.csv", "who,x\nann,1\nbob,3\n"), "wo", KSPEC_E_ARG, "did you mean 'who'");
    refuses(put("t.csv", "who,x\nann,1\nbob,3\n"), "who,x", KSPEC_E_ARG, "one column, not 2");
}

int main(void) {
    CHECK(mkdtemp(dir) != NULL);
    RUN(lines);
    RUN(columns);
    RUN(arrays);
    RUN(refusals);
    char command[160];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    CHECK(system(command) == 0);
    return test_done();
}

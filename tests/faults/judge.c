/* Is what came out of a run with a fault right? */
#define _GNU_SOURCE
#include "faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the files of the working directory ---- */

struct file {
    char name[200];
    uint64_t hash;
};
static struct file before[100], made[100];
static int before_count, made_count;

static uint64_t hash_of(const char *name) {
    unsigned char buffer[65536];
    uint64_t h = 14695981039346656037u;
    ssize_t n;
    int fd = open(name, O_RDONLY);
    while (fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < n; i++) h = (h ^ buffer[i]) * 1099511628211u;
    if (fd >= 0) close(fd);
    return h;
}

static const struct file *find(const struct file *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

static void drop_folder(const char *name) {
    char path[600];
    DIR *d = name[0] == '.' ? NULL : opendir(name);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", name, e->d_name);
        if (e->d_type != DT_DIR) unlink(path);
    }
    if (d) closedir(d);
    if (d) rmdir(name);
}

void drop_folders(void) {
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_type == DT_DIR) drop_folder(e->d_name);
    if (d) closedir(d);
}

static int list_files(struct file *to) {
    DIR *d = opendir(".");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) && n < 100;) {
        if (e->d_type == DT_DIR || strlen(e->d_name) >= sizeof to[n].name) continue;
        strcpy(to[n].name, e->d_name);
        to[n].hash = hash_of(e->d_name);
        n++;
    }
    if (d) closedir(d);
    return n;
}

void remember_files(void) { before_count = list_files(before); }

/* Removes what is new; the number of complete files, or -1 with a message where one is not. */
static int tidy(char *problem, size_t size, int killed) {
    static struct file now[100];
    int count = list_files(now), complete = 0;
    problem[0] = 0;
    for (int i = 0; i < count; i++) {
        const struct file *old = find(before, before_count, now[i].name),
                          *new = find(made, made_count, now[i].name);
        if (new &&new->hash == now[i].hash)
            complete++;
        else if (old && old->hash != now[i].hash)
            snprintf(problem, size, "it has changed its input %.200s", now[i].name);
        else if (!old && new)
            snprintf(problem, size, "%.200s is not complete", now[i].name);
        else if (!old && !killed)
            snprintf(problem, size, "it leaves %.200s", now[i].name);
        if (!old) unlink(now[i].name);
    }
    return problem[0] ? -1 : complete;
}

void keep_files(void) {
    static struct file now[100];
    int count = list_files(now);
    for (int i = 0; i < count; i++)
        if (!find(before, before_count, now[i].name)) {
            made[made_count++] = now[i];
            unlink(now[i].name);
        }
}

/* ---- the output ---- */

void look_at(struct result *r) {
    struct stat s;
    fstat(r->out, &s);
    r->out_size = (size_t)s.st_size;
    r->out_text = calloc(1, r->out_size + 1);
    if (pread(r->out, r->out_text, r->out_size, 0) < 0) r->out_size = 0;
    ssize_t n = pread(r->err, r->err_text, sizeof r->err_text - 1, 0);
    r->err_text[n > 0 ? n : 0] = 0;
    r->crashed = WIFSIGNALED(r->status) && !r->hung;
    close(r->out), close(r->err);
}

void discard(struct result *r) { free(r->out_text); }

/* The end of a line that says how long it took, or how much of it was there; otherwise the line itself */
static const char *past_times(const char *line) {
    static const char *const keys[] = {"seconds\": ", "gfma_per_s\": ", "resumed\": "};
    const char *end = strchr(line, '\n');
    for (size_t k = 0; k < sizeof keys / sizeof *keys && end; k++) {
        const char *at = strstr(line, keys[k]);
        if (at && at < end) return end;
    }
    return line;
}

/* Byte for byte; where the clock advances, but for what it told. */
static int same_output(const struct result *a, const struct result *b) {
    if (!clock_advances())
        return a->out_size == b->out_size && memcmp(a->out_text, b->out_text, a->out_size) == 0;
    const char *x = a->out_text, *y = b->out_text;
    for (;; x++, y++) {
        if (x == a->out_text || x[-1] == '\n') x = past_times(x), y = past_times(y);
        if (*x != *y) return 0;
        if (!*x) return 1;
    }
}

/* One line that is not a warning */
static int one_message(const char *text) {
    int messages = 0;
    while (*text) {
        if (strncmp(text, "kspec: ", 7) != 0) return 0;
        messages += strncmp(text, "kspec: warning: ", 16) != 0;
        text = strchr(text, '\n');
        if (!text) return 0;
        text++;
    }
    return messages == 1;
}

const char *judge(const struct result *want, struct result *got) {
    static char problem[400];
    int complete = tidy(problem, sizeof problem, 0);
    if (got->hung) return "it hangs";
    if (got->crashed) return "it crashes";
    int code = WEXITSTATUS(got->status);
    if (code == 99) return "the fault could not be made";
    if (complete < 0) return problem;
    if (code == 0) {
        if (!same_output(want, got)) return "another output with status 0";
        if (strcmp(want->err_text, got->err_text) != 0) return "another message with status 0";
        return complete == made_count ? NULL : "a file is missing with status 0";
    }
    if (code != 1 && code != 2 && code != 3 && code != 130) return "an odd status";
    if (!one_message(got->err_text)) return "not one message";
    /* a table may be out before its picture fails, and a pipe may have got the beginning */
    if (got->out_size > want->out_size || memcmp(got->out_text, want->out_text, got->out_size) != 0)
        return clock_advances() && got->out_size ? NULL : "another output";
    return NULL;
}

/* After SIGKILL a file may be left under a name of its own, but none that is half of what it should be. */
const char *judge_killed(const struct result *want, struct result *got) {
    static char problem[400];
    if (!WIFSIGNALED(got->status)) return judge(want, got);
    int complete = tidy(problem, sizeof problem, 1);
    got->crashed = 0;
    return got->hung ? "it hangs" : complete < 0 ? problem : NULL;
}

/* Visits all objects of an HDF5 file. */
#include "hdf5/walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- the groups already seen, by their addresses in the file ---- */

typedef struct {
    haddr_t *slot; /* HADDR_UNDEF: empty; linear probing */
    size_t room, count;
} seen_set;

static haddr_t *place(const seen_set *s, haddr_t at) {
    size_t k = (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->room - 1);
    while (s->slot[k] != HADDR_UNDEF && s->slot[k] != at) k = (k + 1) & (s->room - 1);
    return &s->slot[k];
}

/* Returns 1 if the address is new, and 0 if the walk has already seen it, or without memory. */
static int is_new(seen_set *s, haddr_t at) {
    if (2 * s->count >= s->room) {
        seen_set more = {.room = s->room ? 2 * s->room : 64, .count = s->count};
        more.slot = malloc(more.room * sizeof *more.slot);
        if (!more.slot) return 0;
        for (size_t k = 0; k < more.room; k++) more.slot[k] = HADDR_UNDEF;
        for (size_t k = 0; k < s->room; k++)
            if (s->slot[k] != HADDR_UNDEF) *place(&more, s->slot[k]) = s->slot[k];
        free(s->slot);
        *s = more;
    }
    haddr_t *to = place(s, at);
    if (*to == at) return 0;
    *to = at;
    s->count++;
    return 1;
}

/* ---- one group: the names of its hard links ---- */

typedef struct {
    hid_t group;
    char **name;
    size_t count, room, next;
    size_t path; /* the length of the path of the group */
} level;

static herr_t note(hid_t group, const char *name, const H5L_info_t *info, void *ctx) {
    level *l = ctx;
    (void)group;
    if (info->type != H5L_TYPE_HARD) return 0;
    if (l->count == l->room) {
        size_t room = 2 * l->room + 16;
        char **more = realloc(l->name, room * sizeof *more);
        if (!more) return 1;
        l->name = more, l->room = room;
    }
    if (!(l->name[l->count] = strdup(name))) return 1;
    l->count++;
    return 0;
}

static int is_unseen_group(hid_t object, seen_set *seen) {
    H5O_info_t info;
    return H5Iget_type(object) == H5I_GROUP && H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 &&
           is_new(seen, info.addr);
}

/* ---- the walk: a stack of groups, and the path to the topmost, which grows and shrinks ---- */

typedef struct {
    level *at;
    size_t depth, room;
    char *path;
    size_t path_room;
} stack;

static int push(stack *s, hid_t group, size_t path) {
    if (s->depth == s->room) {
        size_t room = 2 * s->room + 16;
        level *more = realloc(s->at, room * sizeof *more);
        if (!more) return 0;
        s->at = more, s->room = room;
    }
    level *l = &s->at[s->depth++];
    *l = (level){.group = group, .path = path};
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, note, l);
    return 1;
}

/* Appends the name to the path of length `at`; returns the new length, or SIZE_MAX without memory. */
static size_t append(stack *s, size_t at, const char *name) {
    size_t n = strlen(name), need = at + n + 2;
    if (need > s->path_room) {
        char *more = realloc(s->path, 2 * need);
        if (!more) return SIZE_MAX;
        s->path = more, s->path_room = 2 * need;
    }
    if (at && s->path[at - 1] != '/') s->path[at++] = '/';
    memcpy(s->path + at, name, n + 1);
    return at + n;
}

void walk_tree(hid_t group, const char *prefix, walk_visit *visit, void *ctx) {
    seen_set seen = {0};
    stack s = {0};
    is_unseen_group(group, &seen);
    size_t length = append(&s, 0, prefix);
    int go_on = length != SIZE_MAX && push(&s, group, length);
    while (s.depth && go_on) {
        level *l = &s.at[s.depth - 1];
        if (l->next == l->count) {
            if (l->group != group) H5Oclose(l->group);
            free(l->name);
            s.depth--;
            continue;
        }
        char *name = l->name[l->next++];
        hid_t object = H5Oopen(l->group, name, H5P_DEFAULT);
        length = append(&s, l->path, name);
        free(name);
        go_on = length != SIZE_MAX;
        if (object < 0 || !go_on) continue;
        if (visit(object, s.path, ctx) || !is_unseen_group(object, &seen))
            H5Oclose(object);
        else
            go_on = push(&s, object, length);
    }
    free(seen.slot);
    free(s.path);
    free(s.at);
}

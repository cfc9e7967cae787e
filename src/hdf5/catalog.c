/* Lists the arrays of a file: finds the only array, or names all arrays for the user. */
#include "hdf5/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_append(catalog *c, const char *text) {
    static const char more[] = ", ...";
    size_t used = strlen(c->list), room = sizeof c->list - used;
    if (used >= sizeof more && strcmp(c->list + used - strlen(more), more) == 0) return;
    if (strlen(text) + sizeof ", " + sizeof more > room)
        snprintf(c->list + used, room, "%s", used ? more : "...");
    else
        snprintf(c->list + used, room, "%s%s", used ? ", " : "", text);
}

void catalog_add(catalog *c, const char *name, int ndim, const size_t *shape) {
    if (c->count++ == 0) c->name = strdup(name);
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s (%zu", name, shape[0]);
    for (int k = 1; k < ndim && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, " x %zu", shape[k]);
    if (used < sizeof text - 1) strcat(text, ")");
    list_append(c, text);
}

void catalog_unfit(catalog *c, const char *name, const char *why) {
    if (!c->unfit[0]) snprintf(c->unfit, sizeof c->unfit, "%s %s", name, why);
}

const char *catalog_only(const catalog *c) {
    if (c->count == 1 && c->name) return c->name;
    if (c->count > 1) refuse("holds %zu %ss, name one after a colon: %s", c->count, c->kind, c->list);
    refuse("holds no numeric %s of 1 to 3 axes%s%s", c->kind, c->unfit[0] ? ": " : "", c->unfit);
}

void catalog_refuse(const catalog *c, const char *key, const char *why) {
    if (c->count) refuse("%.100s %s; %ss: %s", key, why, c->kind, c->list);
    refuse("%.100s %s, and there is no numeric %s of 1 to 3 axes", key, why, c->kind);
}

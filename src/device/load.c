/*
 * Finds and opens the plugin libkspec_cuda.so, next to the program, next to the library, or in its install
 * directory.
 */
#define _GNU_SOURCE
#include "base/beside.h"
#include "device/device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PLUGIN_FILE "libkspec_cuda.so"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int looked;
static const ks_plugin *loaded;
static char reason[512];
static const char *instead;

static int find(char path[PATH_MAX]) {
    const ks_finding f = ks_beside_plugin(PLUGIN_FILE, path);
    if (f == KS_STRANGE)
        snprintf(reason, sizeof reason,
                 "%.300s belongs neither to root nor to this user, or everybody can write to it", path);
    if (f == KS_ABSENT) snprintf(reason, sizeof reason, "this installation has no " PLUGIN_FILE);
    return f == KS_FOUND;
}

static void load(void) {
    char path[PATH_MAX];
    loaded = NULL;
    reason[0] = 0;
    if (instead)
        snprintf(path, sizeof path, "%s", instead);
    else if (!find(path))
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(reason, sizeof reason, "%.400s", why ? why : PLUGIN_FILE " cannot be opened");
        return;
    }
    /*
     * dlsym() returns the address of a function as a pointer to an object. POSIX allows a program to copy the
     * address.
     */
    void *symbol = dlsym(library, KS_PLUGIN_ENTRY);
    ks_plugin_entry entry = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    const ks_plugin *table = entry ? entry() : NULL;
    if (table && table->version == KS_PLUGIN_VERSION) {
        loaded = table;
        return;
    }
    snprintf(reason, sizeof reason, "%.400s is of another version than this library", path);
    dlclose(library);
}

const ks_plugin *ks_plugin_load(const char **why) {
    pthread_mutex_lock(&lock);
    if (!looked) load();
    looked = 1;
    pthread_mutex_unlock(&lock);
    *why = reason;
    return loaded;
}

void ks_plugin_use(const char *path) {
    pthread_mutex_lock(&lock);
    instead = path;
    looked = 0;
    pthread_mutex_unlock(&lock);
}

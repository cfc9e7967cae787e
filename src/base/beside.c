/* Looks for the program's own files in the directories around it. */
#define _GNU_SOURCE /* dladdr */
#include "base/beside.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ks_finding ks_beside_look(const char *path, int run, const char *owner) {
    struct stat file, ours;
    if (path[0] != '/' || stat(path, &file) != 0 || !S_ISREG(file.st_mode) ||
        access(path, run ? X_OK : R_OK) != 0)
        return KS_ABSENT;
    int trusted = file.st_uid == 0 || file.st_uid == geteuid() ||
                  (owner && stat(owner, &ours) == 0 && file.st_uid == ours.st_uid);
    return trusted && !(file.st_mode & S_IWOTH) ? KS_FOUND : KS_STRANGE;
}

const char *ks_beside_own(void) {
    Dl_info self = {0};
    if (!dladdr((void *)(uintptr_t)ks_beside_own, &self) || !self.dli_fname) return NULL;
    return self.dli_fname[0] == '/' ? self.dli_fname : NULL;
}

ks_finding ks_beside_find(const char *name, const char *const *subs, int run, char path[PATH_MAX]) {
    char exe[PATH_MAX] = "", strange[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[length > 0 ? length : 0] = 0;
    const char *const near[2] = {exe, ks_beside_own()};
    for (int k = 0; k < 2; k++)
        for (size_t s = 0; near[k] && subs[s]; s++) {
            const char *slash = strrchr(near[k], '/');
            if (!slash) continue;
            int n = snprintf(path, PATH_MAX, "%.*s/%s%s", (int)(slash - near[k]), near[k], subs[s], name);
            ks_finding f = n < PATH_MAX ? ks_beside_look(path, run, near[k]) : KS_ABSENT;
            if (f == KS_FOUND) return f;
            if (f == KS_STRANGE && !strange[0]) strcpy(strange, path);
        }
    strcpy(path, strange);
    return strange[0] ? KS_STRANGE : KS_ABSENT;
}

ks_finding ks_beside_plugin(const char *name, char path[PATH_MAX]) {
    static const char *const subs[] = {"", "../" KSPEC_LIBDIR_NAME "/", "../", NULL};
    ks_finding f = ks_beside_find(name, subs, 0, path);
    if (f != KS_ABSENT) return f;
    snprintf(path, PATH_MAX, "%s/%s", KSPEC_LIBDIR, name);
    return ks_beside_look(path, 0, ks_beside_own());
}

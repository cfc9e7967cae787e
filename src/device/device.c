/* Chooses the device of a call, and explains a choice that differs from the request. */
#include "device/device.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/streamed.h"
#include "team/team.h"
#include "kspec/host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Loading CUDA, its BLAS and the data takes about START seconds. A core does some RATE multiply-adds a second
 * (fewer in path, more in products). So a GPU is worthwhile only if the CPU needs longer than SECONDS, and if
 * the GPU is then faster. Many GPUs do few operations in double precision.
 */
static const double RATE = 2e10, SECONDS = 3, START = 1;

/* ---- words ---- */

enum { MOST = KSPEC_DEVICE_GPU_LAST - KSPEC_DEVICE_GPU_FIRST };

static int parse_number(const char *text, int *k) {
    char *end;
    if (*text < '0' || *text > '9') return 0;
    long v = strtol(text, &end, 10);
    if (*end || v > MOST) return 0;
    *k = (int)v;
    return 1;
}

kspec_status kspec_device_parse(const char *text, kspec_device *device, kspec_error *err) {
    static const char *const words[] = {"auto", "cpu", "gpu"};
    int k;
    ks_clear(err);
    if (ks_check_pointer(err, device, "device")) return KSPEC_E_ARG;
    *device = KSPEC_DEVICE_AUTO;
    for (int w = 0; w < 3 && text; w++)
        if (strcmp(text, words[w]) == 0) {
            *device = (kspec_device)w;
            return KSPEC_OK;
        }
    if (text && strncmp(text, "gpu:", 4) == 0 && parse_number(text + 4, &k)) {
        *device = (kspec_device)(KSPEC_DEVICE_GPU_FIRST + k);
        return KSPEC_OK;
    }
    return ks_fail(err, KSPEC_E_ARG, "device '%s' must be one of auto, cpu, gpu, gpu:0 ... gpu:%d",
                   text ? text : "", MOST);
}

static kspec_status resolve(kspec_device *want, kspec_error *err) {
    if (*want < KSPEC_DEVICE_AUTO || (*want > KSPEC_DEVICE_GPU && *want < KSPEC_DEVICE_GPU_FIRST) ||
        *want > KSPEC_DEVICE_GPU_LAST)
        return ks_refuse(err, KSPEC_E_ARG, "device", NULL, "unknown device %d", (int)*want);
    const char *set = getenv("KSPEC_DEVICE");
    if (*want != KSPEC_DEVICE_AUTO || !set || !*set) return KSPEC_OK;
    kspec_error why;
    if (kspec_device_parse(set, want, &why))
        return ks_refuse(err, KSPEC_E_ARG, "device", NULL, "KSPEC_DEVICE: %s", why.msg);
    return KSPEC_OK;
}

/* ---- opening ---- */

/*
 * Reads KSPEC_GPU_MEMORY and returns bytes. Returns 0 if the variable is not set, and SIZE_MAX if it is not a
 * number of GB.
 */
static size_t allowed(void) {
    const char *set = getenv("KSPEC_GPU_MEMORY");
    char *end;
    if (!set || !*set) return 0;
    const double bytes = 1e9 * strtod(set, &end);
    return *end == 0 && bytes >= 1 && bytes < 1e18 ? (size_t)bytes : SIZE_MAX;
}

/*
 * A kspec_device from OF_RANK on stands for the GPU of a rank. The difference is the rank's number on its
 * machine.
 */
enum { OF_RANK = 1 << 20 };

/* Opens GPU k. *found is 1 if the machine has a GPU. */
static ks_device *open_device(ks_placement *p, int k, int *found) {
    const char *why;
    const ks_plugin *plugin = ks_plugin_load(&why);
    ks_gpu_info info;
    *found = 0;
    snprintf(p->why, sizeof p->why, "%.150s", why);
    if (!plugin) return NULL;
    int count = plugin->count(p->why, sizeof p->why);
    if (count <= 0) return NULL;
    *found = 1;
    if (k >= OF_RANK) {
        k = (k - OF_RANK) % count;
        p->want = (kspec_device)(KSPEC_DEVICE_GPU_FIRST + k);
    }
    if (k >= count) {
        snprintf(p->why, sizeof p->why, "gpu:%d is not there: the last one is gpu:%d", k, count - 1);
        return NULL;
    }
    p->opened = (ks_device){.plugin = plugin, .most = allowed()};
    if (p->opened.most == SIZE_MAX) {
        snprintf(p->why, sizeof p->why, "KSPEC_GPU_MEMORY: '%.60s' must be a number of GB above 0",
                 getenv("KSPEC_GPU_MEMORY"));
        return NULL;
    }
    if (plugin->describe(k, &info, p->why, sizeof p->why) ||
        plugin->open(k, &p->opened.gpu, p->why, sizeof p->why))
        return NULL;
    snprintf(p->opened.name, sizeof p->opened.name, "gpu:%d %.120s", k, info.name);
    p->why[0] = 0;
    return p->device = &p->opened;
}

static int number_of(kspec_device want) {
    return want >= KSPEC_DEVICE_GPU_FIRST ? (int)want - KSPEC_DEVICE_GPU_FIRST : 0;
}

kspec_device ks_device_of_rank(kspec_device want, const kspec_team *team) {
    if (!team || team->comm.ranks == 1 || resolve(&want, NULL) || want != KSPEC_DEVICE_GPU) return want;
    return (kspec_device)(OF_RANK + team->comm.local_rank);
}

kspec_status ks_placement_open(ks_placement *p, kspec_device want, kspec_error *err) {
    int found;
    const int ranked = (int)want >= OF_RANK;
    *p = (ks_placement){.want = ranked ? KSPEC_DEVICE_GPU : want};
    kspec_status st = resolve(&p->want, err);
    if (st || p->want == KSPEC_DEVICE_AUTO) return st;
    snprintf(p->why, sizeof p->why, "asked for");
    if (p->want == KSPEC_DEVICE_CPU) return KSPEC_OK;
    if (!open_device(p, ranked ? (int)want : number_of(p->want), &found))
        return ks_refuse(err, KSPEC_E_ARG, "device", "cpu", "no GPU can be used: %s", p->why);
    snprintf(p->why, sizeof p->why, "asked for");
    return KSPEC_OK;
}

kspec_status ks_placement_decide(ks_placement *p, double work, const char *refused, kspec_error *err) {
    int found;
    if (p->want == KSPEC_DEVICE_CPU || p->unusable) return KSPEC_OK;
    if (p->want != KSPEC_DEVICE_AUTO || p->device)
        return refused ? ks_placement_refuse(p, refused, err) : KSPEC_OK;
    if (work < SECONDS * RATE * kspec_default_threads()) {
        snprintf(p->why, sizeof p->why, "the work is small: a GPU would not be faster");
    } else if (refused) {
        return ks_placement_refuse(p, refused, err);
    } else if (open_device(p, 0, &found)) {
        const double rate = p->ranked ? 0 : p->device->plugin->rate(p->device->gpu),
                     seconds = work / (RATE * kspec_default_threads());
        const int slow = !(work / rate + START < seconds);
        if (slow) ks_placement_close(p);
        if (p->ranked)
            snprintf(p->why, sizeof p->why, "with several processes, kspec uses a GPU only on request");
        else if (slow)
            snprintf(p->why, sizeof p->why,
                     "the GPU does %.2g TFLOP/s in double precision, which is too slow", 2e-12 * rate);
        else
            snprintf(p->why, sizeof p->why, "faster for this size");
    } else {
        p->unusable = found;
    }
    return KSPEC_OK;
}

kspec_status ks_placement_refuse(ks_placement *p, const char *what, kspec_error *err) {
    if (p->want != KSPEC_DEVICE_AUTO)
        return ks_refuse(err, KSPEC_E_ARG, "device", "cpu", "%s: there is no %s on a GPU; use the cpu",
                         p->device->name, what);
    ks_placement_close(p);
    snprintf(p->why, sizeof p->why, "there is no %.100s on a GPU", what);
    return KSPEC_OK;
}

kspec_status ks_placement_fit(ks_placement *p, size_t bytes, kspec_error *err) {
    const ks_device *d = p->device;
    const size_t room = ks_device_available(d);
    if (bytes <= room) return KSPEC_OK;
    kspec_error why;
    if (room == 0 && d->plugin->message(d->gpu)[0])
        ks_fail(&why, KSPEC_E_NUMERIC, "%s: %s", d->name, d->plugin->message(d->gpu));
    else
        ks_fail(&why, KSPEC_E_NOMEM, "%s: %.1f MB are needed, %.1f MB are free", d->name, ks_megabytes(bytes),
                ks_megabytes(room));
    if (ks_placement_fall_back(p, &why)) return KSPEC_OK;
    return ks_fail_again(err, &why);
}

int ks_placement_stream(ks_placement *p, size_t bytes) {
    const size_t length = strlen(p->why);
    if (bytes > ks_memory_available()) return 0;
    if (p->device->streamed) return 1; /* a second attempt */
    const size_t free_on_device = ks_device_available(p->device);
    p->device->streamed = ks_streamed_room(free_on_device);
    p->device->share = free_on_device - free_on_device / 16;
    snprintf(p->why + length, sizeof p->why - length, "; kspec keeps the matrices in host memory");
    return 1;
}

int ks_placement_fall_back(ks_placement *p, const kspec_error *err) {
    if (p->want != KSPEC_DEVICE_AUTO) return 0;
    ks_placement_close(p);
    snprintf(p->why, sizeof p->why, "%.150s", err->msg);
    p->unusable = 1;
    return 1;
}

void ks_placement_close(ks_placement *p) {
    if (p->device) p->device->plugin->close(p->device->gpu);
    p->device = NULL;
}

void ks_placement_describe(const ks_placement *p, kspec_device_used *used) {
    snprintf(used->name, sizeof used->name, "%s", p->device ? p->device->name : "cpu");
    snprintf(used->why, sizeof used->why, "%s", p->why);
    used->unusable = p->unusable;
}

kspec_status ks_placement_run(ks_placement *p, kspec_status opened, kspec_team *team, ks_attempt *attempt,
                              void *call, kspec_error *err) {
    kspec_error own = {0};
    kspec_error *to = err ? err : &own;
    p->ranked = team && team->comm.ranks > 1;
    kspec_status st = opened ? opened : attempt(call, p, to);
    if (st && !opened && p->device && p->device->failed && ks_placement_fall_back(p, to)) {
        ks_clear(to);
        st = attempt(call, p, to);
    }
    ks_placement_close(p);
    return ks_team_end(team, st, err);
}

int ks_device_has(const ks_device *d, const double *p) {
    for (int k = 0; d && p && k < 4; k++)
        if (d->known[k] == p) return 1;
    return 0;
}

void ks_device_take(ks_device *d, const double *p) {
    for (int k = 0; k < 4; k++)
        if (!d->known[k]) {
            d->known[k] = p;
            return;
        }
}

void ks_device_forget(ks_device *d, const double *p) {
    for (int k = 0; k < 4; k++)
        if (d->known[k] == p) d->known[k] = NULL;
}

size_t ks_device_available(const ks_device *d) {
    const size_t left = d->plugin->available(d->gpu);
    return d->most && d->most < left ? d->most : left;
}

kspec_status ks_device_status(ks_device *d, ks_plugin_status st, const char *what, kspec_error *err) {
    if (st == KS_PLUGIN_OK) return KSPEC_OK;
    if (st == KS_PLUGIN_STOPPED) return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    d->failed = 1;
    return ks_fail(err, st == KS_PLUGIN_NOMEM ? KSPEC_E_NOMEM : KSPEC_E_NUMERIC, "%s: %s: %s", d->name, what,
                   d->plugin->message(d->gpu));
}

/* ---- list ---- */

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static char description[256], problem[256];

static void ask(void) {
    const char *why;
    const ks_plugin *plugin = ks_plugin_load(&why);
    ks_gpu_info info;
    snprintf(problem, sizeof problem, "%.250s", why);
    if (!plugin) return;
    int count = plugin->count(problem, sizeof problem);
    if (count <= 0 || plugin->describe(0, &info, problem, sizeof problem)) return;
    problem[0] = 0;
    snprintf(description, sizeof description, "%.120s, %.1f GB, %s, CUDA %s%s", info.name,
             (double)info.memory / 1e9, info.architecture, info.driver,
             count > 1 ? " (the first of several)" : "");
}

const char *kspec_gpu(void) {
    pthread_once(&asked, ask);
    return description[0] ? description : NULL;
}

const char *kspec_gpu_problem(void) {
    pthread_once(&asked, ask);
    return problem[0] ? problem : NULL;
}

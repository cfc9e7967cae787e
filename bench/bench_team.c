/*
 * Many processes: mpirun -n R bench_team [ESTIMATOR P Q NMAX STDERR]. Times kspec_moments() on random data with
 * one thread a rank, and prints what each rank has received and held at most. Without mpirun: one process.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "kspec.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const kspec_comm *comm, const kspec_error *e) {
    fprintf(stderr, "%s\n", e->msg);
    if (comm && comm->abort) comm->abort(comm->context, 1);
    exit(1);
}

/* MB that this process has held at most */
static double most_memory(void) {
    char line[256];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0) kb = atof(line + 6);
    if (f) fclose(f);
    return kb / 1e3;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "exact";
    const size_t P = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000,
                 Q = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
    kspec_moments_opts o = {.size = sizeof o,
                            .nmax = argc > 4 ? atoi(argv[4]) : 4,
                            .no_stderr = argc > 5 ? !atoi(argv[5]) : 0,
                            .device = KSPEC_DEVICE_CPU,
                            .threads = 1};
    kspec_comm *comm;
    kspec_error err;
    for (unsigned e = KSPEC_ESTIMATOR_NAIVE; e <= KSPEC_ESTIMATOR_AUTO; e <<= 1)
        if (strcmp(name, kspec_estimator_name(e)) == 0) o.estimators = e;
    if (!o.estimators) return fprintf(stderr, "no estimator %s\n", name), 1;
    if (kspec_mpi_open(&comm, &err)) die(NULL, &err);
    if (comm && kspec_team_open(comm, &o.team, &err)) die(comm, &err);
    double *x = ks_alloc(ks_size(P, Q), sizeof *x);
    if (!x) return 1;
    kspec_random_normal(1, 0, 0, P * Q, x);
    const kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    const double before = most_memory(), start = ks_now(), cpu = (double)clock() / CLOCKS_PER_SEC;
    kspec_moments_result *m;
    if (kspec_moments(&phi, 1, &o, &m, &err)) die(comm, &err);
    const double mine[] = {ks_now() - start, (double)clock() / CLOCKS_PER_SEC - cpu,
                           o.team ? o.team->received / 1e6 : 0, most_memory(), before};
    const int ranks = comm ? comm->ranks : 1;
    double *all = ks_alloc((size_t)ranks, sizeof mine);
    size_t *bytes = ks_alloc((size_t)ranks, sizeof *bytes);
    for (int r = 0; r < ranks; r++) bytes[r] = sizeof mine;
    memcpy(all, mine, sizeof mine);
    if (comm && comm->gather(comm->context, mine, all, bytes)) return 1;
    for (int r = 0; r < ranks && (!comm || comm->rank == 0); r++) {
        const double *v = all + 5 * r;
        printf("%s %zu x %zu n <= %d rank %d of %d: %.2f s, %.2f s of the processor, %.1f MB received, "
               "%.0f MB held at most, %.0f of them before\n",
               name, P, Q, o.nmax, r, ranks, v[0], v[1], v[2], v[3], v[4]);
    }
    kspec_moments_free(m);
    kspec_team_close(o.team);
    kspec_mpi_close(comm);
    ks_free(x), ks_free(all), ks_free(bytes);
    return 0;
}

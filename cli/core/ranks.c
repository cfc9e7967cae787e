/*
 * Runs the tool under mpirun or srun: every rank runs the same command, but only rank 0 prints and writes. A
 * command that does not divide its work runs on rank 0, and the other ranks wait until it ends.
 */
#include "core/cli.h"
#include "core/restart.h"
#include "kspec/host.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What this rank knows about the current command */
static _Thread_local struct {
    kspec_comm *comm;
    kspec_team *team;
    /* the first message of this rank, and the digest of its inputs so far */
    char message[512];
    uint64_t inputs_digest;
    /* 1: the checkpoint is open; it belongs to inputs with this digest */
    int kept;
    uint64_t kept_digest;
} ranks;

/*
 * The number of this rank according to the launcher. It is known before MPI starts, and without the MPI
 * plugin.
 */
static int launched_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    const char *none = getenv("KSPEC_MPI");
    if (none && strcmp(none, "none") == 0) return -1;
    for (size_t k = 0; k < sizeof variables / sizeof *variables; k++)
        if (getenv(variables[k])) return atoi(getenv(variables[k]));
    return -1;
}

int cli_rank(void) { return ranks.comm ? ranks.comm->rank : 0; }

int cli_is_launched(void) { return launched_rank() >= 0; }

int cli_is_quiet_rank(void) { return !cli_hosted && (ranks.comm ? ranks.comm->rank : launched_rank()) > 0; }

void cli_ranks_note(const char *text) {
    if (!ranks.message[0]) snprintf(ranks.message, sizeof ranks.message, "%s", text);
}

#ifndef KSPEC_PORTABLE
/* Ranks on the same CPUs share them: each rank gets as many threads as it has CPUs. */
static kspec_status set_threads(void) {
    struct {
        char host[64];
        cpu_set_t set;
    } mine, *all;
    if (getenv("KSPEC_THREADS")) return KSPEC_OK;
    memset(&mine, 0, sizeof mine);
    gethostname(mine.host, sizeof mine.host - 1);
    if (sched_getaffinity(0, sizeof mine.set, &mine.set)) return KSPEC_OK;
    size_t *bytes = malloc((size_t)ranks.comm->ranks * sizeof *bytes);
    all = malloc((size_t)ranks.comm->ranks * sizeof *all);
    int sharing = 0, lost = !bytes || !all;
    for (int r = 0; r < ranks.comm->ranks && !lost; r++) bytes[r] = sizeof mine;
    if (!lost && !ranks.comm->gather(ranks.comm->context, &mine, all, bytes))
        for (int r = 0; r < ranks.comm->ranks; r++) sharing += memcmp(&mine, &all[r], sizeof mine) == 0;
    free(bytes);
    free(all);
    char text[16];
    int threads = sharing > 0 ? CPU_COUNT(&mine.set) / sharing : 1;
    snprintf(text, sizeof text, "%d", threads > 0 ? threads : 1);
    return setenv("KSPEC_THREADS", text, 1) ? KSPEC_E_NOMEM : KSPEC_OK;
}
#else /* This system does not say which CPUs a process may use, so the user sets KSPEC_THREADS. */
static kspec_status set_threads(void) { return KSPEC_OK; }
#endif

int cli_ranks_begin(char **argv) {
    kspec_error err;
    if (launched_rank() >= 0) cli_restart(argv); /* A process must restart before MPI begins. */
    kspec_status st = kspec_mpi_open(&ranks.comm, &err);
    if (st) return cli_fail(st, &err);
    if (!ranks.comm) return EXIT_DONE;
    if (ranks.comm->rank > 0) { /* Rank 0 prints for this rank. */
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) {
            dup2(nowhere, 1);
            close(nowhere);
        }
    }
    st = set_threads();
    if (!st) st = kspec_team_open(ranks.comm, &ranks.team, &err);
    return st ? cli_fail(st, &err) : EXIT_DONE;
}

static kspec_status status_of(int status) {
    return status == EXIT_DONE          ? KSPEC_OK
           : status == EXIT_USAGE       ? KSPEC_E_ARG
           : status == EXIT_INPUT       ? KSPEC_E_DATA
           : status == EXIT_INTERRUPTED ? KSPEC_E_CANCELLED
                                        : KSPEC_E_NUMERIC;
}

int cli_ranks_end(int status) {
    kspec_error err = {status_of(status), ""};
    snprintf(err.msg, sizeof err.msg, "%s", ranks.message);
    const int told = ranks.message[0] != 0;
    kspec_status st = kspec_team_agree(ranks.team, err.code, &err);
    if (st && !status) status = told ? EXIT_FAILED : cli_fail(st, &err);
    kspec_team_close(ranks.team);
    ranks.team = NULL;
    if (ranks.comm) kspec_mpi_close(ranks.comm);
    ranks.comm = NULL;
    return status;
}

int cli_ranks_skip(const cli_command *c) { return cli_rank() > 0 && !c->shares; }

/*
 * Clears the outputs of all ranks except 0. The computation may depend on whether an object is wanted, so
 * either all ranks or none build it.
 */
void cli_ranks_outputs(cli_common *c) {
    if (cli_rank() == 0) return;
    c->json = cli_wants_object(c);
    c->output = c->plot = NULL;
    for (size_t k = 0; k < c->given_count; k++)
        if (c->given[k]->writes) *(const char **)((char *)c + c->given[k]->offset) = NULL;
}

static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* Digests entries row by row, so that the digest does not depend on the memory layout. */
static uint64_t digest_of(const kspec_dataset *d) {
    uint64_t h = d->trials * 31 + d->rows * 1000003 + d->cols;
    for (size_t t = 0; t < d->trials; t++) {
        const kspec_matrix m = kspec_dataset_trial(d, t);
        for (size_t i = 0; i < m.rows; i++)
            for (size_t j = 0; j < m.cols; j++) {
                uint64_t w;
                memcpy(&w, m.data + (ptrdiff_t)i * m.row_stride + (ptrdiff_t)j * m.col_stride, sizeof w);
                h = mix(h, w);
            }
    }
    return h;
}

/* Is the host a program other than the tool, such as Python? It has no ranks. */
static int is_apart(void) { return cli_hosted && !cli_hosted->inner; }

kspec_team *cli_ranks_reading(const cli_common *c) {
    return ranks.comm && !is_apart() && c->command->shares ? ranks.team : NULL;
}

/* Returns 1 if the ranks or a checkpoint compare the inputs of this command. */
static int is_compared(const cli_common *c) {
    return !is_apart() && c->command->shares && (ranks.team || c->checkpoint);
}

static int same_input(const char *path, uint64_t digest) {
    ranks.inputs_digest = (ranks.inputs_digest ^ digest) * UINT64_C(0x9e3779b97f4a7c15);
    if (!ranks.team) return EXIT_DONE;
    char what[300];
    kspec_error err;
    snprintf(what, sizeof what, "file %.250s", path);
    kspec_status st = kspec_team_same(ranks.team, what, digest, &err);
    return st ? cli_fail(st, &err) : EXIT_DONE;
}

int cli_ranks_input(const cli_common *c, const char *path, const kspec_dataset *d) {
    return is_compared(c) ? same_input(path, digest_of(d)) : EXIT_DONE;
}

int cli_ranks_bytes(const cli_common *c, const char *path, const void *bytes, size_t count) {
    if (!is_compared(c)) return EXIT_DONE;
    uint64_t h = count;
    for (size_t k = 0; k < count; k++) h = mix(h, ((const unsigned char *)bytes)[k]);
    return same_input(path, h);
}

kspec_status cli_team(const cli_common *c, kspec_team **out, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    *out = NULL;
    if (is_apart() || !c->command->shares) return KSPEC_OK;
    if (!ranks.team && c->checkpoint) st = kspec_team_open(NULL, &ranks.team, err);
    if (!st && c->checkpoint && (!ranks.kept || ranks.kept_digest != ranks.inputs_digest)) {
        cli_text text;
        FILE *f = cli_text_open(&text);
        if (f)
            fprintf(f, "command %s\ninputs %016llx\n", cli_line(), (unsigned long long)ranks.inputs_digest);
        /* Without memory, a word of the line may be missing. */
        if (!cli_text_close(&text) || cli_memory_failed()) {
            free(text.data);
            snprintf(err->msg, sizeof err->msg, "out of memory");
            return err->code = KSPEC_E_NOMEM;
        }
        st = kspec_team_checkpoint(ranks.team, c->checkpoint, text.data, err);
        free(text.data);
        ranks.kept = !st;
        ranks.kept_digest = ranks.inputs_digest;
    }
    *out = st ? NULL : ranks.team;
    return st;
}

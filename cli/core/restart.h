/* Restarts the tool with OpenBLAS settings that fit the CPU and the memory limit. */
#pragma once

/*
 * If kspec_blas_advice() has a value for OPENBLAS_CORETYPE, sets it and replaces this process by a new one
 * with the same arguments. Call it before reading or writing anything. It returns if no restart is needed, or
 * if the restart fails: results are right even with a slow BLAS.
 */
void cli_restart(char **argv);

/*
 * Restarts with OPENBLAS_NUM_THREADS=1 if memory is limited (RLIMIT_AS, RLIMIT_DATA, a kernel that does not
 * overcommit). OpenBLAS starts a thread per CPU when it is loaded. Each thread maps 128 MB; if that fails,
 * OpenBLAS retries for ever, and the process never ends. kspec uses its own threads and needs none of these.
 * Call this function before all others.
 */
void cli_restart_limited(char **argv);

/* The core that OpenBLAS chose before the restart, such as "Prescott"; NULL without a restart */
const char *cli_core_before(void);

/* Starting again, with the BLAS that fits the processor and the memory. */
#pragma once

/*
 * Where kspec_blas_advice() has a value for OPENBLAS_CORETYPE, sets it and replaces this process by a new
 * one with the same arguments. Call it before anything is read or written. It returns where there is
 * nothing to do, and where it fails: results are right with a slow BLAS, too.
 */
void cli_restart(char **argv);

/*
 * OpenBLAS starts a thread per processor when it is loaded. Each maps 128 MB, and where it cannot, tries for
 * ever: the process then never ends. kspec has threads of its own and needs none of those. So where memory
 * is limited (RLIMIT_AS, RLIMIT_DATA, a kernel that does not overcommit) this starts again with
 * OPENBLAS_NUM_THREADS=1. Call it first of all.
 */
void cli_restart_limited(char **argv);

/* The core that OpenBLAS chose before the restart, such as "Prescott"; NULL: there was no restart. */
const char *cli_core_before(void);

/* Starting again, with the BLAS that fits the processor. */
#ifndef KSPEC_CLI_RESTART_H
#define KSPEC_CLI_RESTART_H

/*
 * Where kspec_blas_advice() has a value for OPENBLAS_CORETYPE, sets it and replaces this process by a new
 * one with the same arguments. Call it before anything is read or written. It returns where there is
 * nothing to do, and where it fails: results are right with a slow BLAS, too.
 */
void cli_restart(char **argv);

/* The core that OpenBLAS chose before the restart, such as "Prescott"; NULL: there was no restart. */
const char *cli_core_before(void);

#endif

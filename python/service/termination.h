// SPDX-License-Identifier: MIT
// SIGTERM where this process is served: its socket goes, and the process dies
// of the signal all the same. The program does not see the handler, which
// stands where CPython has none; one of its own replaces it.
#ifndef OCULAR_PYTHON_SERVICE_TERMINATION_H
#define OCULAR_PYTHON_SERVICE_TERMINATION_H

// This socket goes when the signal ends the process, until
// Termination_serves_no_more. Does nothing where the signal is ignored or has a
// handler. Interpreter's lock held.
void Termination_serves(const char *path);
void Termination_serves_no_more(void);

#endif

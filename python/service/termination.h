// SPDX-License-Identifier: MIT
// Removes the socket of a served process when SIGTERM ends it. The process
// still dies of the signal. The handler is set only if SIGTERM has the default
// action. signal.getsignal() does not show it, and a handler that the program
// sets replaces it.
#ifndef OCULAR_PYTHON_SERVICE_TERMINATION_H
#define OCULAR_PYTHON_SERVICE_TERMINATION_H

// Has the socket at `path` removed when SIGTERM ends the process, until
// Termination_serves_no_more is called. Does nothing if the signal is ignored
// or has a handler. The caller holds the GIL.
void Termination_serves(const char *path);
void Termination_serves_no_more(void);

#endif

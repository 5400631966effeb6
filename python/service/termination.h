// SPDX-License-Identifier: MIT
// Removes the socket of a served process when SIGTERM ends it. The signal still
// ends the process. The handler is set only if SIGTERM has the default action.
// signal.getsignal() does not show Ocular's handler. If the program sets a
// handler, the program's handler replaces Ocular's.
#pragma once

// If SIGTERM ends the process, the handler removes the socket at `path`.
// Termination_serves_no_more undoes this. Termination_serves does nothing if
// the signal is ignored or has a handler. The caller holds the GIL.
void Termination_serves(const char *path);
void Termination_serves_no_more(void);

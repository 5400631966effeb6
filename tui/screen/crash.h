// SPDX-License-Identifier: MIT
// Gives the terminal back when we crash. All that the signal handler needs is
// prepared here, since a handler may ask for nothing. A handler has no argument
// of ours, hence the only static data of the viewer. Main thread only.
#ifndef OCULAR_TUI_SCREEN_CRASH_H
#define OCULAR_TUI_SCREEN_CRASH_H

#include <stdbool.h>

// Saves the terminal's mode, which a crash restores. False: `fd` is no
// terminal.
bool Crash_save_mode(int fd);
// Starts again with the bytes that a crash writes to `fd`...
void Crash_begin(int fd);
// ... and adds one of them. Returns it.
int Crash_add(int byte);
void Crash_forget(void); // a crash writes and restores nothing from now on
void Crash_guard(void);  // installs the handlers
void Crash_unguard(void);

#endif

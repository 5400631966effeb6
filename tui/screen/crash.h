// SPDX-License-Identifier: MIT
// Restores the terminal if ocular-top crashes. A signal handler may call only
// few functions, so everything that it needs is prepared here. The handler gets
// no argument from us, so this is the only static data of the viewer. Main
// thread only.
#ifndef OCULAR_TUI_SCREEN_CRASH_H
#define OCULAR_TUI_SCREEN_CRASH_H

#include <stdbool.h>

// Saves the terminal's mode, which is restored after a crash. Returns false if
// `fd` is no terminal.
bool Crash_save_mode(int fd);
// Begins a new list of bytes that are written to `fd` after a crash.
void Crash_begin(int fd);
// Adds a byte to the list. Returns the byte.
int Crash_add(int byte);
// nothing is written or restored after a crash from now on
void Crash_forget(void);
void Crash_guard(void); // installs the handlers
void Crash_unguard(void);

#endif

// SPDX-License-Identifier: MIT
// Restores the terminal if ocular-top crashes. crash.c prepares all data for
// the signal handler in advance, because the handler may call only few
// functions. The data is static, because the handler gets no argument. No other
// file of the viewer has static variables. Only the main thread calls these
// functions.
#pragma once

#include <stdbool.h>

// Saves the terminal's mode, so that the mode can be restored after a crash.
// Returns false if `fd` is no terminal.
bool Crash_save_mode(int fd);
// Begins a new list of bytes for restoring the terminal. After a crash, the
// handler writes these bytes to `fd`.
void Crash_begin(int fd);
// Appends a byte to the list of bytes for restoring the terminal. Returns the
// byte.
int Crash_add(int byte);
// After Crash_forget, nothing is written or restored after a crash.
void Crash_forget(void);
void Crash_guard(void); // Installs the signal handlers.
void Crash_unguard(void);

// SPDX-License-Identifier: MIT
// Restores the terminal if ocular-top crashes. A signal handler may call only
// few functions, so crash.c prepares all data for the handler. The handler gets
// no argument of the viewer's, so the data is static. No other file of the
// viewer has static variables. Only the main thread calls these functions.
#pragma once

#include <stdbool.h>

// Saves the terminal's mode, which is restored after a crash. Returns false if
// `fd` is no terminal.
bool Crash_save_mode(int fd);
// Begins a new list of bytes. After a crash, the handler writes the listed
// bytes to `fd`.
void Crash_begin(int fd);
// Adds a byte to the list of bytes that restore the terminal. Returns the byte.
int Crash_add(int byte);
// After this call, nothing is written or restored after a crash.
void Crash_forget(void);
void Crash_guard(void); // installs the signal handlers
void Crash_unguard(void);

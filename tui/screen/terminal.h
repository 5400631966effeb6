// SPDX-License-Identifier: MIT
// The real terminal; terminal.c alone uses curses. It shows a canvas, reads
// keys, waits, and restores the terminal on every way out: quit, signal, stop
// and crash. Called by live.c and pick.c. Main thread only; one at a time.
#ifndef OCULAR_TUI_SCREEN_TERMINAL_H
#define OCULAR_TUI_SCREEN_TERMINAL_H

#include "tui/screen/canvas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Terminal;

enum TerminalEvent { // bits
    TERMINAL_KEYS = 1,
    TERMINAL_OTHER = 2,   // the other descriptor can be read
    TERMINAL_RESIZED = 4, // the size may have changed: Terminal_size
    TERMINAL_QUIT = 8     // a signal ends us, or the terminal is gone
};

struct TerminalWish {
    bool mono;
    bool no_mouse; // the terminal keeps the mouse, to select text
};

// Takes the terminal over. 0, or -errno with `why` in words.
int Terminal_open(struct Terminal **terminal, struct TerminalWish wish,
                  char *why, size_t why_size);
void Terminal_close(struct Terminal *terminal); // NULL is fine
void Terminal_size(const struct Terminal *terminal, int *width, int *height);
void Terminal_draw(struct Terminal *terminal, const struct Canvas *canvas);
// Makes the next draw write everything, whatever the terminal shows.
void Terminal_distrust(struct Terminal *terminal);
// Waits for keys, signals or other_fd (-1: none). Returns TerminalEvent bits;
// 0: the time is up.
int Terminal_wait(struct Terminal *terminal, int other_fd, int timeout_ms);
uint32_t Terminal_key(struct Terminal *terminal); // enum Key; 0: no more keys

#endif

// SPDX-License-Identifier: MIT
// Shows a canvas on the real terminal, reads keys, and waits. If the viewer
// ends or stops, restores the terminal, no matter whether this is due to a key,
// a signal, Ctrl-Z or a crash. Only terminal.c uses curses. Only one terminal
// at a time can be open.
#pragma once

#include "tui/screen/canvas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Terminal;

enum TerminalEvent { // bits
    TERMINAL_KEYS = 1,
    TERMINAL_OTHER = 2,   // other_fd is readable.
    TERMINAL_RESIZED = 4, // The size may have changed, so call Terminal_size.
    TERMINAL_QUIT = 8     // A signal ends the viewer, or the terminal is gone.
};

struct TerminalRequest {
    bool mono;
    // True if the terminal and not the viewer handles the mouse, so that the
    // user can select text.
    bool no_mouse;
};

// Initialises the terminal. Returns 0, or -errno with the reason in `why`.
int Terminal_open(struct Terminal **terminal, struct TerminalRequest request,
                  char *why, size_t why_size);
void Terminal_close(struct Terminal *terminal); // `terminal` may be NULL.
void Terminal_size(const struct Terminal *terminal, int *width, int *height);
void Terminal_draw(struct Terminal *terminal, const struct Canvas *canvas);
// Makes the next Terminal_draw write every cell. Must be called if the terminal
// may show something else than the viewer has drawn.
void Terminal_distrust(struct Terminal *terminal);
// Waits for keys, for signals, or until other_fd (-1 = none) is readable.
// Returns TerminalEvent bits, or 0 after the timeout.
int Terminal_wait(struct Terminal *terminal, int other_fd, int timeout_ms);
// Returns the next key, an enum Key, or 0 if no key is waiting.
uint32_t Terminal_key(struct Terminal *terminal);

// SPDX-License-Identifier: MIT
// Which process to watch, when none is named: the only one that serves, or the
// one that the user picks from a list. Used by main, on its thread.
#ifndef OCULAR_TUI_CHOOSER_H
#define OCULAR_TUI_CHOOSER_H

#include "ipc/address.h"
#include "tui/canvas.h"

#include <stdbool.h>
#include <stdint.h>

struct Chooser {
    struct Served *list; // owned
    long count;
    long selected;
    long top;
};

// Looks for processes; keeps the selection on the same one. The count, or
// -errno.
long Chooser_look(struct Chooser *chooser);
void Chooser_release(struct Chooser *chooser);
void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);
// 1: the selected one is chosen, -1: the user leaves, 0: neither yet.
int Chooser_key(struct Chooser *chooser, uint32_t key);
// The list as lines of text, one process each: "  PID  COMMAND".
void Chooser_write(const struct Chooser *chooser, struct Bytes *out);

#endif

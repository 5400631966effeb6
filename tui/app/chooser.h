// SPDX-License-Identifier: MIT
// Which process to watch, when none is named: the only one that serves, or the
// one that the user picks from a list, in which children stand below the
// process that started them. Used by main, on its thread.
#ifndef OCULAR_TUI_APP_CHOOSER_H
#define OCULAR_TUI_APP_CHOOSER_H

#include "ipc/address.h"
#include "tui/screen/canvas.h"
#include "tui/screen/list.h"

#include <stdbool.h>
#include <stdint.h>

struct ChooserRow {
    struct Served served;
    char user[24]; // whose it is
    pid_t parent;
    int depth; // below how many others of the list
};

struct Chooser {
    struct ChooserRow *rows; // owned
    long count;
    struct List list;
    char message[512]; // why the one chosen cannot be watched, or ""
    bool back;         // there is a process that Esc leads back to
    bool users;        // some are of other users
    bool too_small;    // for anything but a notice
    bool help;         // is in front
    int help_top;
};

enum ChooserAnswer {
    CHOOSER_NONE,   // not yet
    CHOOSER_CHOSEN, // the selected one
    CHOOSER_BACK,   // none: back to the one that was watched
    CHOOSER_QUIT
};

// Looks for processes; keeps the selection on the same one. The count, or
// -errno.
long Chooser_refresh(struct Chooser *chooser);
void Chooser_release(struct Chooser *chooser);
// Selects that process, if it is there.
void Chooser_select(struct Chooser *chooser, pid_t pid);
// The selected one, NULL if there is none.
const struct Served *Chooser_selected(const struct Chooser *chooser);
void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);
enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key);
// The list as lines of text, one process each: "  PID  COMMAND".
void Chooser_write(const struct Chooser *chooser, struct Bytes *out);

#endif

// SPDX-License-Identifier: MIT
// The list of processes that serve, for the user to choose one. Children stand
// below the process that started them. Called by main and pick.c, on the main
// thread.
#ifndef OCULAR_TUI_APP_CHOOSER_H
#define OCULAR_TUI_APP_CHOOSER_H

#include "ipc/address.h"
#include "tui/screen/canvas.h"
#include "tui/screen/list.h"

#include <stdbool.h>
#include <stdint.h>

struct ChooserRow {
    struct Served served;
    char user[24]; // name of its user
    pid_t parent;
    int depth; // processes of the list that it descends from
};

struct Chooser {
    struct ChooserRow *rows; // owned
    long count;
    struct List list;
    char message[512]; // why the chosen one cannot be watched, or ""
    bool back;         // Esc leads back to a process
    bool users;        // some are other users'
    bool too_small;    // the terminal has no room for the list
    bool help;         // the help is in front
    int help_top;
};

enum ChooserAnswer {
    CHOOSER_NONE,   // no answer yet
    CHOOSER_CHOSEN, // watch the selected one
    CHOOSER_BACK,   // go back to the one that was watched
    CHOOSER_QUIT
};

// Reads the list anew; the same process stays selected. Returns their number,
// or -errno.
long Chooser_refresh(struct Chooser *chooser);
void Chooser_release(struct Chooser *chooser);
// Selects that process, if it is in the list.
void Chooser_select(struct Chooser *chooser, pid_t pid);
// Returns the selected one; NULL: there is none.
const struct Served *Chooser_selected(const struct Chooser *chooser);
void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas);
enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key);
// Appends the list as lines of text, one process each: "  PID  COMMAND".
void Chooser_write(const struct Chooser *chooser, struct Bytes *out);

#endif

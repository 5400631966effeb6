// SPDX-License-Identifier: MIT
// The list of processes that serve, for the user to choose one. Children stand
// below the process that started them, and the user's other Python processes,
// which can be attached to, at the end. Called by main and pick.c, on the main
// thread.
#ifndef OCULAR_TUI_APP_CHOOSER_H
#define OCULAR_TUI_APP_CHOOSER_H

#include "ipc/address.h"
#include "ipc/base/bytes.h"
#include "tui/attach/others.h"
#include "tui/screen/list.h"

#include <stdbool.h>
#include <stdint.h>

#define CHOOSER_FIRST_LINE 3 // line of the list's first row

struct ChooserRow {
    struct Served served;
    char user[24]; // name of its user
    pid_t parent;
    int depth;        // processes of the list that it descends from
    const char *role; // "master", "worker" or NULL
    bool other;       // does not serve; then the rest counts
    double age_s;
    char takes[sizeof((struct Other *)0)->takes]; // as there, as the next
    char why[sizeof((struct Other *)0)->why];
};

struct Chooser {
    struct ChooserRow *rows; // owned
    long count;
    long serving;        // the first of the rows; the others do not serve
    bool all;            // list those, too
    const char *package; // for attaching to one, or NULL
    struct Others others;
    struct List list;
    pid_t asked;       // "attach to it?" waits for an answer; 0: no question
    bool may_kill;     // as Attach_may_kill says of it
    char message[512]; // why the chosen one cannot be watched, or ""
    bool back;         // Esc leads back to a process
    bool users;        // some are other users'
    bool too_small;    // the terminal has no room for the list
    bool help;         // the help is in front
    int help_top;
};

enum ChooserAnswer {
    CHOOSER_NONE,   // no answer yet
    CHOOSER_CHOSEN, // watch the selected one, attach to it if it is an other
    CHOOSER_BACK,   // go back to the one that was watched
    CHOOSER_QUIT
};

// The rows of its list, without columns.
struct ListRows Chooser_rows(const struct Chooser *chooser);
// Reads the list again; the same process stays selected. Returns how many
// serve, or -errno.
long Chooser_refresh(struct Chooser *chooser);
void Chooser_release(struct Chooser *chooser);
// Selects that process, if it is in the list.
void Chooser_select(struct Chooser *chooser, pid_t pid);
// Returns the selected one; NULL: there is none.
const struct ChooserRow *Chooser_selected(const struct Chooser *chooser);
enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key);
// Appends those that serve as lines of text: "  PID  COMMAND".
void Chooser_write(const struct Chooser *chooser, struct Bytes *out);

#endif

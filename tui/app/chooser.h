// SPDX-License-Identifier: MIT
// The chooser is the list of processes. The user chooses a process to watch
// from this list. In the list, a child is below its parent. The processes that
// serve viewers come first. The user's other Python processes, to which the
// viewer can attach, come last.
#pragma once

#include "ipc/address.h"
#include "ipc/base/bytes.h"
#include "tui/attach/others.h"
#include "tui/screen/list.h"

#include <stdbool.h>
#include <stdint.h>

#define CHOOSER_FIRST_LINE 3 // Line on the screen of the list's first row.

struct ChooserRow {
    struct Served served;
    char user[24]; // Name of the user who owns the process.
    pid_t parent;
    int depth;        // Number of the process's ancestors that are in the list.
    const char *role; // "master", "worker", or NULL if the process is neither.
    unsigned workers; // Number of its workers that serve viewers.
    // CPU time in s at the time read_s. The CPU time of a master includes that
    // of its workers.
    double cpu_s, read_s;
    // CPU time per second between two readings of the list; NaN: not known.
    double cores;
    double age_s; // Seconds since the process was forked; NaN: not known.
    // True if the process does not serve viewers. The fields after `other` are
    // only used then.
    bool other;
    // The same members as in struct Other.
    char takes[sizeof((struct Other *)0)->takes];
    char why[sizeof((struct Other *)0)->why];
};

struct Chooser {
    struct ChooserRow *rows; // Rows of the list; owned.
    long count;
    // Number of rows of processes that serve viewers. These rows come first.
    long serving;
    bool all; // True if the list also has processes that do not serve viewers.
    const char *package; // Folder of a package for attaching, or NULL.
    struct Others others;
    struct List list;
    // The process for which the viewer asks the user whether to attach to it; 0
    // if there is no question.
    pid_t asked;
    // True if attaching may kill the process `asked` (Attach_may_kill).
    bool may_kill;
    // True if the chosen master is shown without its workers.
    bool alone;
    // The reason why the chosen process cannot be watched, or "".
    char message[512];
    bool back;      // True if Esc returns to a watched process.
    bool users;     // True if some of the processes belong to other users.
    bool too_small; // True if the terminal has no room for the list.
    bool help;      // True while the help is shown.
    int help_top;
};

enum ChooserAnswer {
    CHOOSER_NONE, // No choice yet.
    // Watch the selected process. If row->other is set, the viewer attaches
    // first.
    CHOOSER_CHOSEN,
    CHOOSER_BACK, // Return to the watched process.
    CHOOSER_QUIT
};

// Describes the list's rows, but not the columns.
struct ListRows Chooser_rows(const struct Chooser *chooser);
// Reads the list of processes again. The selected process stays selected.
// Returns the number of processes that serve viewers, or -errno.
long Chooser_refresh(struct Chooser *chooser);
void Chooser_release(struct Chooser *chooser);
// Selects process `pid` if it is in the list.
void Chooser_select(struct Chooser *chooser, pid_t pid);
#define CHOOSER_ALONE 'o' // The key that shows a master without its workers.
// Returns true if the selected process is a master that can be shown without
// its workers.
bool Chooser_may_be_alone(const struct Chooser *chooser);
// Returns the selected row, or NULL if no row is selected.
const struct ChooserRow *Chooser_selected(const struct Chooser *chooser);
enum ChooserAnswer Chooser_key(struct Chooser *chooser, uint32_t key);
// Appends the processes that serve viewers as lines of text: "  PID  COMMAND".
void Chooser_write(const struct Chooser *chooser, struct Bytes *out);

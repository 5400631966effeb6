// SPDX-License-Identifier: MIT
// The live log of specialisation: which instruction became what, when, how
// often each change was seen, and who goes to and fro. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_OPCODES_H
#define OCULAR_TUI_VIEWS_VIEW_OPCODES_H

#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/views/status.h"

struct Screen;

struct OpcodesView {
    struct List log;
    struct List pairs;
    bool on_pairs; // the keys move among the pairs
    bool pinned;   // the selection stays with a transition, else at the newest:
    double pinned_at;
    uint64_t pinned_id;
    uint64_t pinned_offset;
};

// As a row of VIEWS.
extern const struct Binding VIEW_OPCODES_KEYS[];
void ViewOpcodes_show(struct Screen *screen, const struct Status *status);
bool ViewOpcodes_press(struct Screen *screen, int request, uint32_t key);
bool ViewOpcodes_find(struct Screen *screen, int step, bool here);
uint64_t ViewOpcodes_function(const struct Screen *screen);

#endif

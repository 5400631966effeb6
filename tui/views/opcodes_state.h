// SPDX-License-Identifier: MIT
// What the opcodes view remembers, and which transitions pass its filter. Draws
// nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_OPCODES_STATE_H
#define OCULAR_TUI_VIEWS_OPCODES_STATE_H

#include "tui/model/model.h"
#include "tui/screen/list.h"

struct OpcodesState {
    struct List log;   // of transitions
    struct List pairs; // of counts
    bool on_pairs;     // the keys move among the counts
    bool pinned; // the selection stays with a transition, else at the newest:
    double pinned_at; // its seen_at_s
    uint64_t pinned_id;
    uint64_t pinned_offset;
};

bool OpcodesState_has(const struct Transition *one, const char *text);
bool OpcodesState_pair_has(const struct TransitionPair *pair, const char *text);
// What filters the counts. They are of all functions together: a filter that is
// in no opcode's name is about functions and hides no count, and this is "".
const char *OpcodesState_pair_filter(const struct Model *model);
// The transition of that index among those that pass the filter, or NULL.
const struct Transition *OpcodesState_nth(const struct Model *model,
                                          long index);
// Counts the transitions that pass the filter, and finds the selected one
// again: newer ones push it down. There must be a snapshot.
void OpcodesState_fit(struct OpcodesState *state, const struct Model *model,
                      long height);
// The selection stays with the transition that the log has selected.
void OpcodesState_pin(struct OpcodesState *state, const struct Model *model);

#endif

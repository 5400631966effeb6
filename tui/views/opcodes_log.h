// SPDX-License-Identifier: MIT
// The log of transitions in the opcodes view, and how a transition is drawn.
// One thread.
#ifndef OCULAR_TUI_VIEWS_OPCODES_LOG_H
#define OCULAR_TUI_VIEWS_OPCODES_LOG_H

#include "tui/views/ui.h"

#define OPCODES_NOTHING_YET "No instruction has changed its kind yet."

// The box has the place and the width; lines are those of the layout. There
// must be a snapshot.
void OpcodesLog_draw(struct Ui *ui, struct Box box);
// "FROM -> TO": a name that is too long loses its beginning, which both share.
void OpcodesLog_draw_change(struct Canvas *canvas, struct Box box,
                            const struct Transition *one);
void OpcodesLog_mark_selected(struct Canvas *canvas, struct Box line);

#endif

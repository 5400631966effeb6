// SPDX-License-Identifier: MIT
// Decides which view is shown, how the user gets from one view to another, and
// which abilities the shown view has.
#pragma once

#include "tui/views/ui.h"

// Returns the request for which a key stands in a view. The view's own keys
// come before the keys of all views.
int View_request(const struct View *view, uint32_t key);
// Returns the view that a key opens, or VIEW_COUNT if the key opens no view.
// `views` has VIEW_COUNT elements.
enum ViewId View_opened_by(const struct View *const *views, uint32_t key);
const struct View *Navigation_front(const struct Ui *ui);
// Returns the function that is selected in the shown view. Returns 0 if no
// function is selected, or if the process does not list the function any more.
uint64_t Navigation_function(const struct Ui *ui);
// Returns the abilities that are possible with the viewer's source of data. The
// source is a running process, a process that has ended, or a recording.
unsigned Navigation_reach(const struct Ui *ui);
// Returns the abilities that the shown view has now. The bottom line does not
// show keys that need other abilities.
unsigned Navigation_can(const struct Ui *ui);
// If the shown view cannot carry out the request of a key now, returns true and
// shows a message with the reason.
bool Navigation_refuses(struct Ui *ui, const struct Binding *binding);
// Opens the view to which Enter on the selected row leads. Returns false if
// Enter leads to no view. Navigation_enter is also called for a click on a row.
bool Navigation_enter(struct Ui *ui);
// Shows a view. After Navigation_open, Esc leads back to the view that was
// shown before.
void Navigation_open(struct Ui *ui, enum ViewId id);
// Goes back to the view that was shown before. Returns false if the main screen
// is shown.
bool Navigation_back(struct Ui *ui);

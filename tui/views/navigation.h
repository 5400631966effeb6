// SPDX-License-Identifier: MIT
// Decides which view is in front, how to get from one view to another, and what
// the user can do there. Called by views, the bottom line and the keyboard, on
// the viewer's thread.
#ifndef OCULAR_TUI_VIEWS_NAVIGATION_H
#define OCULAR_TUI_VIEWS_NAVIGATION_H

#include "tui/views/ui.h"

// Returns the request of a key in this view: the view's own request, or that of
// all views.
int View_request(const struct View *view, uint32_t key);
// Returns the view that a key opens, or VIEW_COUNT if there is none. `views`
// has VIEW_COUNT elements.
enum ViewId View_opened_by(const struct View *const *views, uint32_t key);
const struct View *Navigation_front(const struct Ui *ui);
// Returns the function that is selected in the front view. Returns 0 if there
// is none or the process does not list it any more.
uint64_t Navigation_function(const struct Ui *ui);
// Returns the abilities in CAN_REACH that the watched process or recording
// allows.
unsigned Navigation_reach(const struct Ui *ui);
// Returns the abilities that the front view has now. The bottom line leaves out
// keys that need others.
unsigned Navigation_can(const struct Ui *ui);
// Returns true if the front view cannot carry out the binding's request now. If
// so, a message says why.
bool Navigation_refuses(struct Ui *ui, const struct Binding *binding);
// Does the same as Enter on the selected row: opens a view. Returns false if
// Enter opens none. Used for a click on the row.
bool Navigation_enter(struct Ui *ui);
// Brings a view to the front. Esc leads back to the view that is in front now.
void Navigation_open(struct Ui *ui, enum ViewId id);
// Goes back one view. Returns false on the main screen.
bool Navigation_back(struct Ui *ui);

#endif

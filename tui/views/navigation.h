// SPDX-License-Identifier: MIT
// Decides which view is in front, how the user gets from one view to another,
// and which abilities the front view has. Views, the bottom line and the
// keyboard call these functions on the viewer's thread.
#ifndef OCULAR_TUI_VIEWS_NAVIGATION_H
#define OCULAR_TUI_VIEWS_NAVIGATION_H

#include "tui/views/ui.h"

// Returns the request of a key in this view, from the view's own keys or else
// from the keys of all views.
int View_request(const struct View *view, uint32_t key);
// Returns the view that a key opens, or VIEW_COUNT if the key opens no view.
// `views` has VIEW_COUNT elements.
enum ViewId View_opened_by(const struct View *const *views, uint32_t key);
const struct View *Navigation_front(const struct Ui *ui);
// Returns the selected function of the front view. Returns 0 if no function is
// selected, or if the process does not list the function any more.
uint64_t Navigation_function(const struct Ui *ui);
// Returns the abilities in CAN_REACH that the watched process or recording
// allows.
unsigned Navigation_reach(const struct Ui *ui);
// Returns the abilities that the front view has now. The bottom line leaves out
// keys that need other abilities.
unsigned Navigation_can(const struct Ui *ui);
// Returns true if the front view cannot carry out the binding's request now. If
// the function returns true, a message gives the reason.
bool Navigation_refuses(struct Ui *ui, const struct Binding *binding);
// Opens the view that Enter on the selected row opens. Returns false if Enter
// opens no view. Called after a click on the row.
bool Navigation_enter(struct Ui *ui);
// Brings a view to the front. After that, Esc leads back to the view that was
// in front before.
void Navigation_open(struct Ui *ui, enum ViewId id);
// Goes back one view. Returns false on the main screen.
bool Navigation_back(struct Ui *ui);

#endif

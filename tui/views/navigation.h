// SPDX-License-Identifier: MIT
// Which view is in front, how to get from one to another, and what the user can
// do there. Called by views, the bottom line and the keyboard, on the viewer's
// thread.
#ifndef OCULAR_TUI_VIEWS_NAVIGATION_H
#define OCULAR_TUI_VIEWS_NAVIGATION_H

#include "tui/views/ui.h"

// Returns what a key asks for in this view: its own request, or that of all
// views.
int View_request(const struct View *view, uint32_t key);
// Returns the view that a key opens, VIEW_COUNT: none. `views` are VIEW_COUNT.
enum ViewId View_opened_by(const struct View *const *views, uint32_t key);
const struct View *Navigation_front(const struct Ui *ui);
// The function that is selected in the view in front; 0: there is none, or the
// process does not list it any more.
uint64_t Navigation_function(const struct Ui *ui);
// Which abilities of CAN_REACH the watched process, or the recording, allows.
unsigned Navigation_reach(const struct Ui *ui);
// Which abilities the view in front has now. The bottom line offers no key that
// needs another one.
unsigned Navigation_can(const struct Ui *ui);
// True if the view in front cannot do now what the key of that binding
// means; a message says why.
bool Navigation_refuses(struct Ui *ui, const struct Binding *binding);
// Does what Enter does to the selected row, for a click on it: brings the view
// that it opens to the front. False if it opens none.
bool Navigation_enter(struct Ui *ui);
// Brings a view to the front; Esc leads back to the one that is there now.
void Navigation_open(struct Ui *ui, enum ViewId id);
// Goes one view back. False on the main screen.
bool Navigation_back(struct Ui *ui);

#endif

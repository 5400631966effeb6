// SPDX-License-Identifier: MIT
// Decides which view is on the screen, how the user gets from one view to
// another, and which abilities this view has.
#pragma once

#include "tui/views/ui.h"

// Returns the request that a key means in a view. The view's own keys take
// precedence over the keys of all views.
int View_request(const struct View *view, uint32_t key);
// Returns the view that a key opens, or VIEW_COUNT if the key opens no view.
// `views` has VIEW_COUNT elements.
enum ViewId View_opened_by(const struct View *const *views, uint32_t key);
const struct View *Navigation_front(const struct Ui *ui);
// Returns the function that is selected in the view on the screen. Returns 0 if
// no function is selected, or if the process does not list the function any
// more.
uint64_t Navigation_function(const struct Ui *ui);
// Returns the abilities that the viewer's source of data allows. The source is
// a running process, a process that has ended, or a recording.
unsigned Navigation_reach(const struct Ui *ui);
// Returns the abilities that the view on the screen has now. The bottom line
// leaves out keys that need other abilities.
unsigned Navigation_can(const struct Ui *ui);
// If the view on the screen cannot carry out a key's request now, returns true
// and shows a message with the reason.
bool Navigation_refuses(struct Ui *ui, const struct Binding *binding);
// Opens the view that Enter on the selected row opens. Returns false if Enter
// opens no view. A click on a row also calls this function.
bool Navigation_enter(struct Ui *ui);
// Passes a request to the list of a view. If the user clicks the selected row,
// opens what Enter opens. Returns false if the list ignores the request.
bool Navigation_press(struct Ui *ui, enum ViewId id,
                      const struct ListRows *rows, int request, uint32_t key);
// Shows a view on the screen. After that, Esc leads back to the view that was
// on the screen before.
void Navigation_open(struct Ui *ui, enum ViewId id);
// Goes back to the view that was on the screen before. Returns false on the
// main screen.
bool Navigation_back(struct Ui *ui);

// SPDX-License-Identifier: MIT
// See view_help.h.
#include "tui/views/view_help.h"

#include "tui/views/help_page.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

enum { HELP_CLOSE = REQUEST_OWN, HELP_PAGE };

const struct Binding VIEW_HELP_KEYS[] = {
    {HELP_CLOSE, 0, {PRESS_ESCAPE, 'q', PRESS_ENTER}, "back", NULL, "Back", 1},
    {HELP_PAGE, 0, {' '}, "one page down", NULL, "Next page", 2},
    {.request = 0},
};

void ViewHelp_open(struct Ui *ui, uint64_t function)
{
    (void)function;
    ui->help_top = 0;
}

void ViewHelp_show(struct Ui *ui, const struct Status *status)
{
    (void)status;
    HelpPage_draw(&ui->canvas, ui->views, &ui->help_top, Navigation_reach(ui));
}

bool ViewHelp_press(struct Ui *ui, int request, uint32_t key)
{
    (void)key;
    if (request == HELP_CLOSE) {
        Navigation_back(ui);
        return true;
    }
    if (request == HELP_PAGE) // as in every pager
        request = REQUEST_PAGE_DOWN;
    if (List_scroll(&ui->help_top, ui->canvas.height - 5, request))
        return true;
    // Other keys do nothing: they would change what is not on the screen.
    return request != REQUEST_NONE && request != REQUEST_BACK &&
           request != REQUEST_REDRAW && request != REQUEST_QUIT;
}

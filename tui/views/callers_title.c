// SPDX-License-Identifier: MIT
// See callers_title.h.
#include "tui/views/callers_title.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

void CallersTitle_draw(struct Ui *ui)
{
    const struct Row *row = Model_row_of(&ui->model, ui->callers.tree.root);
    const struct CallersState *state = &ui->callers;
    const struct Window *window = &state->window;
    char number[NUMBER_MAX], text[WINDOW_TEXT], name[256];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Callers and callees");
    if (row && row->now) {
        const struct Function *now = row->now;
        Text_clean(name, sizeof name,
                   Text_tail(Column_text_key(COLUMN_FUNCTION, row), 240));
        Strip_item(&strip, 1);
        Strip_add(&strip, STYLE_ACCENT, "%s", name);
        Strip_flex(&strip, 16);
        struct CallTotal all =
            Tree_total(now, state->own ? &state->calls : NULL);
        if (Window_share(number, window, all.total)) {
            Strip_item(&strip, 3);
            Strip_add(&strip, STYLE_FAINT, "with callees ");
            Strip_add(&strip, STYLE_PLAIN, "%s", number);
            Strip_add(&strip, STYLE_FAINT, " of a core");
            if (Window_share(number, window, all.self)) {
                Strip_add(&strip, STYLE_FAINT, ", by itself ");
                Strip_add(&strip, STYLE_PLAIN, "%s", number);
            }
        }
        Strip_item(&strip, 2);
        Strip_add(&strip, STYLE_FAINT,
                  state->own ? "running" : "running or waiting");
        if (*Window_text(text, window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
        if (state->period != PERIOD_LATELY)
            Strip_add(&strip, STYLE_FAINT, "%s",
                      state->own
                          ? History_about(&ui->flame.history, state->period)
                          : ", no other yet");
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_FAINT, "PART: of the function it hangs on");
    }
    Strip_draw(&strip, &ui->canvas,
               (struct Box){ui->layout.title_y, 1, ui->canvas.width - 2}, 3);
}

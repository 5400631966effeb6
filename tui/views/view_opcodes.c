// SPDX-License-Identifier: MIT
// See view_opcodes.h.
#include "tui/views/view_opcodes.h"

#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/opcodes_counts.h"
#include "tui/views/opcodes_log.h"
#include "tui/views/opcodes_title.h"
#include "tui/views/ui.h"

#define SIDE_BY_SIDE                                                           \
    120 // cells; on a wider screen the counts stand at the right
#define PAIRS_WIDTH 52

enum { OPCODES_TURN = REQUEST_OWN };

const struct Binding VIEW_OPCODES_KEYS[] = {
    {OPCODES_TURN,
     0,
     {PRESS_TAB},
     "move in the log, or in the counts of each change",
     NULL,
     "Log/Counts",
     3},
    {.request = 0},
};

static bool is_side_by_side(const struct Ui *ui)
{
    return ui->canvas.width >= SIDE_BY_SIDE;
}

static int pairs_width(const struct Ui *ui)
{
    return PAIRS_WIDTH + (ui->canvas.width - SIDE_BY_SIDE) / 4;
}

// --- As a view

void ViewOpcodes_show(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    struct Box box = {0, 0, canvas->width - 1};
    Header_draw_process(canvas, &ui->model, status);
    if (!ui->model.snapshot) {
        Canvas_fit(canvas,
                   (struct Box){ui->layout.body_y, 2, canvas->width - 3},
                   STYLE_FAINT, CUT_END, Status_waiting(status));
        return;
    }
    OpcodesTitle_draw(ui);
    Canvas_paint(canvas, (struct Box){ui->layout.table_y, 0, canvas->width},
                 STYLE_HEAD);
    if (is_side_by_side(ui)) {
        int width = pairs_width(ui);
        OpcodesCounts_draw(ui,
                           (struct Box){0, canvas->width - width, width - 1});
        box.width = canvas->width - width - 2;
        OpcodesLog_draw(ui, box);
    } else if (ui->opcodes.on_pairs) {
        OpcodesCounts_draw(ui, box);
    } else {
        OpcodesLog_draw(ui, box);
    }
}

bool ViewOpcodes_find(struct Ui *ui, int step, bool here)
{
    struct OpcodesState *state = &ui->opcodes;
    long count = state->log.count;
    state->on_pairs = false;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (state->log.selected + step * away) % count;
        index += index < 0 ? count : 0;
        const struct Transition *one = OpcodesState_nth(&ui->model, index);
        if (!one || !OpcodesState_has(one, ui->model.search))
            continue;
        List_go(&state->log, index);
        OpcodesState_pin(&ui->opcodes, &ui->model);
        return true;
    }
    return false;
}

// The function of the selected line of the log.
uint64_t ViewOpcodes_function(const struct Ui *ui)
{
    const struct OpcodesState *state = &ui->opcodes;
    const struct Transition *one =
        state->on_pairs ? NULL
                        : OpcodesState_nth(&ui->model, state->log.selected);
    return one ? one->id : 0;
}

// A click selects a line. One on the selected line of the log opens its
// function.
static void click(struct Ui *ui, int x, int y)
{
    struct OpcodesState *state = &ui->opcodes;
    int line = y - ui->layout.body_y;
    bool pairs = state->on_pairs;
    if (is_side_by_side(ui))
        pairs = x >= ui->canvas.width - pairs_width(ui);
    struct List *list = pairs ? &state->pairs : &state->log;
    long index = List_at(list, line);
    if (index < 0)
        return;
    bool again = index == list->selected && pairs == state->on_pairs;
    state->on_pairs = pairs;
    List_go(list, index);
    if (pairs)
        return;
    OpcodesState_pin(&ui->opcodes, &ui->model);
    if (again)
        Navigation_enter(ui);
}

bool ViewOpcodes_press(struct Ui *ui, int request, uint32_t key)
{
    struct OpcodesState *state = &ui->opcodes;
    if (request == REQUEST_CLICK) {
        click(ui, Key_x(key), Key_y(key));
        return true;
    }
    if (request == OPCODES_TURN) {
        state->on_pairs = !state->on_pairs;
        return true;
    }
    if (state->on_pairs)
        return List_move(&state->pairs, request);
    if (!List_move(&state->log, request))
        return false;
    OpcodesState_pin(&ui->opcodes, &ui->model);
    return true;
}

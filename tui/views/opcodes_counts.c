// SPDX-License-Identifier: MIT
// See opcodes_counts.h.
#include "tui/views/opcodes_counts.h"

#include "tui/text/number.h"
#include "tui/views/opcodes_log.h"

void OpcodesCounts_draw(struct Ui *ui, struct Box box)
{
    const struct Layout *layout = &ui->layout;
    const struct Snapshot *now = ui->model.snapshot;
    struct Canvas *canvas = &ui->canvas;
    struct OpcodesState *state = &ui->opcodes;
    const char *filter = OpcodesState_pair_filter(&ui->model);
    bool whole = *ui->model.filter && !*filter;
    char number[NUMBER_MAX];
    long count = 0, index = 0;
    box.y = layout->table_y;
    Canvas_fit_right(canvas, (struct Box){box.y, box.x + 1, 7}, STYLE_HEAD,
                     ui->model.baseline ? "+COUNT" : "COUNT");
    Canvas_fit(canvas, (struct Box){box.y, box.x + 10, box.width - 10},
               STYLE_HEAD, CUT_END,
               whole ? "FROM -> TO, in all functions" : "FROM -> TO");
    for (size_t i = 0; i < now->transition_pair_count; i++)
        count += OpcodesState_pair_has(&now->transition_pairs[i], filter);
    List_fit(&state->pairs, &(struct ListRows){.count = count},
             layout->body_height);
    for (size_t i = 0; i < now->transition_pair_count; i++) {
        const struct TransitionPair *pair = &now->transition_pairs[i];
        if (!OpcodesState_pair_has(pair, filter))
            continue;
        long row = index++ - state->pairs.top;
        if (row < 0 || row >= state->pairs.height)
            continue;
        box.y = layout->body_y + (int)row;
        Canvas_fit_right(
            canvas, (struct Box){box.y, box.x + 1, 7}, STYLE_PLAIN,
            Number_count(number, Model_pair_count(&ui->model, pair)));
        OpcodesLog_draw_change(
            canvas, (struct Box){box.y, box.x + 10, box.width - 10},
            &(struct Transition){
                .from = pair->from, .to = pair->to, .deopt = pair->deopt});
        if (state->on_pairs && index - 1 == state->pairs.selected)
            OpcodesLog_mark_selected(canvas, box);
    }
    if (!count)
        Canvas_fit(canvas,
                   (struct Box){layout->body_y, box.x + 2, box.width - 2},
                   STYLE_FAINT, CUT_END, OPCODES_NOTHING_YET);
}

// SPDX-License-Identifier: MIT
// See view_annotate.h.
#include "tui/views/view_annotate.h"

#include "tui/model/json.h"
#include "tui/text/text.h"
#include "tui/views/annotate_row.h"
#include "tui/views/annotate_title.h"
#include "tui/views/header.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { ANNOTATE_FOLLOW = REQUEST_OWN, ANNOTATE_HOTTEST, ANNOTATE_PERIOD };

const struct Binding VIEW_ANNOTATE_KEYS[] = {
    {ANNOTATE_FOLLOW,
     0,
     {PRESS_ENTER, PRESS_RIGHT},
     "to where the selected instruction jumps",
     NULL,
     "Follow jump",
     5},
    {ANNOTATE_HOTTEST,
     0,
     {'H'},
     "to the line that takes the most time",
     NULL,
     "Hottest",
     4},
    {ANNOTATE_PERIOD,
     0,
     {'w'},
     "samples of another window: 5 s, 60 s, since the last r or the start",
     NULL,
     "Window",
     6},
    {.request = 0},
};

// --- Which function

void ViewAnnotate_open(struct Ui *ui, uint64_t function)
{
    AnnotateState_select(&ui->annotate, Model_row_of(&ui->model, function));
    // The main screen selects it, too, if it is there at all.
    Ui_choose(ui, function);
}

uint64_t ViewAnnotate_function(const struct Ui *ui)
{
    return ui->annotate.id;
}

// Lets the next frame show what has changed, or reports that memory is out.
static void finish_change(struct Ui *ui, int error)
{
    if (error)
        Ui_say(ui, true, "There is no memory for so much code.");
    ui->changed = true;
}

static void follow_successor(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    const struct FeedListing *answer = &ui->feed->listing;
    const struct Row *row;
    if (answer->id != state->id || answer->error != ENOENT)
        return;
    row = AnnotateState_successor(state, &ui->model);
    if (!row)
        return;
    AnnotateState_select(state, row);
    state->replaced = true;
    Ui_choose(ui, row->id);
}

void ViewAnnotate_reset(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    if (ui->view == VIEW_ANNOTATE && state->listing)
        finish_change(ui, AnnotateState_mark(state));
}

static void next_period(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    int error = AnnotateState_next_period(state);
    if (state->listing)
        finish_change(ui, error);
}

void ViewAnnotate_want(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    struct Listing *listing = Feed_take_listing(ui->feed);
    if (listing && listing->id == state->id)
        finish_change(ui, AnnotateState_take(state, listing, ui->feed->pid));
    else
        Listing_free(listing);
    follow_successor(ui);
    Feed_want_listing(ui->feed, state->id);
}

// --- The screen

// Says why there is no code.
static void draw_nothing(struct Ui *ui)
{
    const struct FeedListing *answer = &ui->feed->listing;
    char text[400], why[280];
    struct Box box = {ui->layout.body_y, 1, ui->canvas.width - 2};
    double silent = Feed_now() - answer->asked_at;
    Text_clean(why, sizeof why, answer->why);
    if (!ui->annotate.id)
        snprintf(text, sizeof text, "No function is selected.");
    else if (ui->feed->ended)
        snprintf(text, sizeof text,
                 "The program has ended before its code was asked for.");
    else if (answer->error == EOPNOTSUPP)
        snprintf(text, sizeof text,
                 "The process runs an older Ocular, which does not report code "
                 "(%s).",
                 why);
    else if (answer->error)
        snprintf(text, sizeof text, "There is no code to show: %s.", why);
    else if (answer->number && silent > 3)
        snprintf(text, sizeof text,
                 "The process has not answered for %.0f s: it is stopped, or "
                 "very busy.",
                 silent);
    else
        snprintf(text, sizeof text, "Asking the process for the code…");
    Canvas_fit(&ui->canvas, box, answer->error ? STYLE_ALERT : STYLE_FAINT,
               CUT_END, text);
}

void ViewAnnotate_show(struct Ui *ui, const struct Status *status)
{
    struct AnnotateState *state = &ui->annotate;
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    struct List *list = &state->list;
    Header_draw_process(canvas, &ui->model, status);
    AnnotateTitle_draw(ui, &status->display);
    struct AnnotatePlaces places =
        AnnotateRow_place(canvas->width, isfinite(state->annotation.samples));
    AnnotateRow_draw_bar(canvas, layout->table_y, &places, state,
                         &status->display);
    List_fit(list, &(struct ListRows){.count = (long)state->annotation.count},
             layout->body_height);
    if (!state->annotation.count) {
        draw_nothing(ui);
        return;
    }
    for (int i = 0; i < layout->body_height; i++) {
        long index = list->top + i;
        int y = layout->body_y + i;
        if (index >= list->count)
            break;
        AnnotateRow_draw(canvas, y, &places, state,
                         &state->annotation.entries[index], &status->display);
        if (index != list->selected)
            continue;
        Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, (struct Box){y, 0, canvas->width});
    }
}

// --- Keys

static bool has_text(const struct AnnotateState *state,
                     const struct Entry *entry, const char *text)
{
    const struct ListingRow *row;
    if (entry->kind == ENTRY_SOURCE)
        return Text_has(Source_line(&state->source, entry->line), text);
    if (entry->kind != ENTRY_CODE)
        return false;
    row = &state->listing->rows[entry->row];
    return Text_has(row->opcode, text) || Text_has(row->live, text) ||
           Text_has(row->words, text) || Text_has(row->callee, text);
}

bool ViewAnnotate_find(struct Ui *ui, int step, bool here)
{
    struct AnnotateState *state = &ui->annotate;
    long count = (long)state->annotation.count;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (state->list.selected + step * away + 2 * count) % count;
        if (!has_text(state, &state->annotation.entries[index],
                      ui->model.search))
            continue;
        List_go(&state->list, index);
        return true;
    }
    return false;
}

static void follow(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    const struct Entry *entry;
    size_t row = LISTING_ROWS;
    if (!state->annotation.count)
        return;
    entry = &state->annotation.entries[state->list.selected];
    if (entry->kind == ENTRY_CODE &&
        state->listing->rows[entry->row].target != NULL_U64)
        row = Annotation_row(state->listing,
                             state->listing->rows[entry->row].target);
    if (row < state->listing->row_count)
        List_go(&state->list, (long)Annotation_entry(&state->annotation, row));
    else
        Ui_say(ui, true, "This line does not jump.");
}

// Returns an entry's part of the function's time: its samples, or else cycles
// times hits.
static double weight_of(const struct AnnotateState *state,
                        const struct Entry *entry)
{
    const struct ListingRow *row;
    if (entry->kind == ENTRY_SOURCE)
        return isnan(entry->samples) ? -1 : entry->samples;
    if (entry->kind != ENTRY_CODE)
        return -1;
    row = &state->listing->rows[entry->row];
    if (state->annotation.samples > 0)
        return Row_u64(row->samples);
    return row->cycles * Row_u64(row->hits);
}

static void go_to_hottest(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    double most = 0;
    for (size_t i = 0; i < state->annotation.count; i++) {
        double weight = weight_of(state, &state->annotation.entries[i]);
        if (!(weight > most))
            continue;
        most = weight;
        List_go(&state->list, (long)i);
    }
    if (!(most > 0))
        Ui_say(ui, true, "Nothing is known of its time yet.");
}

static void click(struct Ui *ui, int y)
{
    struct List *list = &ui->annotate.list;
    long index = List_at(list, y - ui->layout.body_y);
    if (index >= 0)
        List_go(list, index);
}

bool ViewAnnotate_press(struct Ui *ui, int request, uint32_t key)
{
    if (request == ANNOTATE_FOLLOW)
        follow(ui);
    else if (request == ANNOTATE_HOTTEST)
        go_to_hottest(ui);
    else if (request == ANNOTATE_PERIOD)
        next_period(ui);
    else if (request == REQUEST_CLICK)
        click(ui, Key_y(key));
    else
        return List_move(&ui->annotate.list, request);
    return true;
}

int ViewAnnotate_json(const struct Ui *ui, struct Bytes *out)
{
    if (!ui->annotate.listing)
        return -ENODATA;
    return Json_listing(out, ui->annotate.listing);
}

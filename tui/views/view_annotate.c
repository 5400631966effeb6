// SPDX-License-Identifier: MIT
#include "tui/views/view_annotate.h"

#include "tui/model/json.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/annotate_rows.h"
#include "tui/views/time_bar.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// If there are fewer samples, the title shows their number.
#define FEW_SAMPLES 1000.0

enum {
    ANNOTATE_FOLLOW = REQUEST_OWN,
    ANNOTATE_HOTTEST,
    ANNOTATE_PERIOD,
    ANNOTATE_NATIVES
};

static const struct Binding KEYS[] = {
    BINDING(ANNOTATE_FOLLOW, 0, "to where the selected instruction jumps", NULL,
            "Follow jump", 5, PRESS_ENTER, PRESS_RIGHT),
    BINDING(ANNOTATE_HOTTEST, 0, "to the line that takes the most time", NULL,
            "Hottest", 4, 'H'),
    BINDING(
        ANNOTATE_PERIOD, 0,
        "samples of another window: 5 s, 60 s, since the last r or the start",
        NULL, "Window", 6, 'w'),
    BINDING(ANNOTATE_NATIVES, CAN_ASK,
            "show which C functions take a line's time; hide them", NULL, NULL,
            0, 'C'),
    {.request = 0},
};

// --- Which function

static void select_function(struct Ui *ui, const struct Row *row)
{
    if (AnnotateState_select(&ui->annotate, row))
        ui->lists[VIEW_ANNOTATE] = (struct List){0};
}

static void open_view(struct Ui *ui, uint64_t function)
{
    select_function(ui, Model_row_of(&ui->model, function));
    // Also selects the function on the main screen, if the main screen shows
    // the function.
    Ui_choose(ui, function);
}

static uint64_t selected_function(const struct Ui *ui)
{
    return ui->annotate.id;
}

// Makes the viewer draw a frame. If `error` is not 0, shows a message that
// there is no memory.
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
    select_function(ui, row);
    state->replaced = true;
    Ui_choose(ui, row->id);
}

static void reset(struct Ui *ui)
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

// Returns the process whose code the annotate view shows.
static pid_t code_pid(const struct Ui *ui)
{
    const struct Fleet *fleet = ui->feed->link.fleet;
    return fleet ? Fleet_code_pid(fleet) : ui->feed->pid;
}

static void fill(struct Ui *ui, struct AnnotateRows *rows)
{
    AnnotateRows_fill(rows, &ui->annotate, ui->model.snapshot,
                      &ui->lists[VIEW_ANNOTATE], NULL, ui->canvas.width);
}

static void select_row(struct Ui *ui, size_t row)
{
    struct AnnotateRows rows;
    fill(ui, &rows);
    List_select(&ui->lists[VIEW_ANNOTATE], &rows.rows, (long)row);
}

// Selects the line that was named by the previous view.
static void go_to_line(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    for (size_t i = 0; i < state->annotation.count; i++) {
        const struct Entry *entry = &state->annotation.entries[i];
        if ((entry->kind == ENTRY_SOURCE && entry->line == state->line) ||
            (entry->kind == ENTRY_CODE &&
             state->listing->rows[entry->row].line == state->line)) {
            select_row(ui, i);
            break;
        }
    }
    state->line = 0;
}

static void want(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    struct Listing *listing = Feed_take_listing(ui->feed);
    if (listing && listing->id == state->id)
        finish_change(ui, AnnotateState_take(state, listing, code_pid(ui)));
    else
        Listing_free(listing);
    if (state->listing && state->line)
        go_to_line(ui);
    follow_successor(ui);
    Feed_want_listing(ui->feed, state->id);
    if (ui->natives)
        Feed_ask(ui->feed, MESSAGE_NATIVE, 0);
    const struct Row *row = Model_row_of(&ui->model, state->id);
    // The tasks are needed because they say in which function a coroutine
    // awaits, and at which line a task is suspended.
    if (TimeBar_wants_tasks(row) && !Feed_is_replay(ui->feed))
        Feed_ask(ui->feed, MESSAGE_TASKS, 0);
}

// --- The view's own line

static void add_calls(struct Strip *strip, const struct Row *row)
{
    char number[NUMBER_MAX];
    double best = Row_best_calls(row), seen = Row_calls(row);
    bool exact = Row_calls_exact(row);
    bool known = isfinite(Row_estimated(row)) && Row_is_sure(row);
    if (!isfinite(best))
        return;
    if (known && Row_is_rough(row))
        best = Window_one_digit(best);
    Strip_label(strip, 3, "calls", "%s%s",
                exact   ? ""
                : known ? "~"
                        : ">=",
                Number_count(number, best));
    if (!exact && known && isfinite(seen))
        Strip_add(strip, STYLE_FAINT, " (seen >=%s)",
                  Number_count(number, seen));
}

static void add_cycles(struct Strip *strip, const char *what,
                       const char *cycles, const struct Display *display,
                       int importance)
{
    Strip_put(strip, importance, STYLE_FAINT, "%s ", what);
    Strip_add(strip, STYLE_PLAIN, "%s%s", cycles,
              display->ns && display->tsc_hz > 0 ? "" : " cyc");
}

static void add_state(struct Strip *strip, const struct Function *now)
{
    char number[NUMBER_MAX];
    if (now->state > STATE_DARK)
        return;
    Strip_put(strip, 2, STATE_MARKS[now->state].style, "%s",
              STATE_MARKS[now->state].mark);
    if (now->sites != NULL_U64 && now->dark_sites <= now->sites)
        Strip_add(strip, STYLE_PLAIN, " %llu of %llu sites armed",
                  (unsigned long long)(now->sites - now->dark_sites),
                  (unsigned long long)now->sites);
    if (isfinite(now->age_s)) {
        Strip_label(strip, 5, "last hit", "%s%s",
                    Number_age(number, now->age_s),
                    now->age_s < 1 ? "" : " ago");
    }
}

static void add_place(struct Strip *strip, const char *file, uint64_t line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char name[80];
    if (!file || !*file) // The garbage collector has no file.
        return;
    Text_clean(name, sizeof name,
               Text_tail(slash && slash[1] ? slash + 1 : file, 76));
    Strip_put(strip, 4, STYLE_FAINT, "%s", name);
    if (line != NULL_U64)
        Strip_add(strip, STYLE_FAINT, ":%llu", (unsigned long long)line);
}

// Adds the number of samples, and the length of the time in which they were
// taken. Adds nothing if the samples are those of the whole run and there are
// many of them.
static void add_period(struct Strip *strip, const struct AnnotateState *state)
{
    const char *about = History_about(&state->history, state->period);
    bool whole = state->period == PERIOD_SINCE && !state->history.mark.totals;
    double samples = state->annotation.samples;
    if (!isfinite(samples) || (whole && !(samples > 0)) ||
        (whole && samples >= FEW_SAMPLES))
        return;
    Strip_label(strip, whole ? 8 : 2, "shares of", "%.0f", samples);
    Strip_add(strip, STYLE_FAINT, " sample%s", samples == 1 ? "" : "s");
    if (!whole)
        Strip_add(strip, STYLE_FAINT, " in %.0f s%s", state->period_s, about);
}

static void draw_title(struct Ui *ui, const struct Display *display)
{
    const struct AnnotateState *state = &ui->annotate;
    const struct Row *row = Model_row_of(&ui->model, state->id);
    const struct Function *now = row ? row->now : NULL;
    const struct Listing *listing = state->listing;
    char name[256];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Text_clean(name, sizeof name, state->name);
    Strip_add(&strip, STYLE_STRONG, "%s", name);
    Strip_flex(&strip, 20);
    if (now)
        add_place(&strip, now->file, now->line);
    else if (listing)
        add_place(&strip, listing->file, listing->line);
    if (ui->feed->listing.error == ENOENT &&
        ui->feed->listing.id == state->id) {
        Strip_put(&strip, 1, STYLE_ALERT, "gone");
    } else if (state->replaced) {
        Strip_put(&strip, 6, STYLE_FAINT, "made anew");
    }
    if (listing && ui->feed->link.fleet)
        Strip_put(&strip, 1, STYLE_PROMPT, "code of worker %d",
                  (int)code_pid(ui));
    if (listing && listing->precise == 1) {
        Strip_put(&strip, 7, STYLE_FAINT, "cycles are of generic opcodes");
    }
    add_period(&strip, state);
    if (now) {
        // `whole` contains the function's counts since the start of tracing, as
        // does the column HITS.
        struct Row whole = *row;
        whole.base = (struct RowBase){0};
        add_calls(&strip, &whole);
        char number[NUMBER_MAX];
        if (isfinite(now->avg_cycles))
            add_cycles(&strip, "avg",
                       Display_mean(number, now->avg_cycles, display), display,
                       4);
        if (isfinite(now->p99_cycles))
            add_cycles(&strip, "p99",
                       Display_cost(number, now->p99_cycles, display), display,
                       6);
        add_state(&strip, now);
    }
    Ui_draw_title(ui, &strip);
}

// Draws the bar of time in the blank line below the title, if there is such a
// line.
static void draw_bar(struct Ui *ui)
{
    const struct Row *row = Model_row_of(&ui->model, ui->annotate.id);
    struct Box line = {ui->layout.title_y + 1, 1, ui->canvas.width - 2};
    if (row && line.y < ui->layout.table_y)
        TimeBar_draw(&ui->canvas, line, row, ui->model.snapshot);
}

// --- The screen

// Draws the reason why there is no code to show.
static void draw_nothing(struct Ui *ui)
{
    const struct FeedListing *answer = &ui->feed->listing;
    char text[400], why[280];
    struct Box box = {ui->layout.body_y, 1, ui->canvas.width - 2};
    double silent = Feed_now() - answer->asked_at;
    Text_clean(why, sizeof why, answer->why);
    if (!ui->annotate.id)
        snprintf(text, sizeof text, "No function is selected.");
    else if (ui->feed->ended && !Feed_is_past(ui->feed))
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

static void draw(struct Ui *ui, const struct Status *status)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    struct List *list = &ui->lists[VIEW_ANNOTATE];
    struct AnnotateRows rows;
    draw_title(ui, &status->display);
    draw_bar(ui);
    AnnotateRows_fill(&rows, &ui->annotate, ui->model.snapshot, list,
                      &status->display, canvas->width);
    List_draw(list, &rows.rows, canvas,
              (struct Box){layout->table_y, 0, canvas->width},
              layout->body_height);
    if (!rows.rows.count)
        draw_nothing(ui);
}

// --- Keys

static bool find(struct Ui *ui, int step, bool here)
{
    struct AnnotateRows rows;
    fill(ui, &rows);
    return List_find(&ui->lists[VIEW_ANNOTATE], &rows.rows, ui->model.search,
                     step, here);
}

static void follow(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    const struct Entry *entry;
    size_t row = LISTING_ROWS;
    if (!state->annotation.count)
        return;
    entry = &state->annotation.entries[ui->lists[VIEW_ANNOTATE].selected];
    if (entry->kind == ENTRY_CODE &&
        state->listing->rows[entry->row].target != NULL_U64)
        row = Annotation_row(state->listing,
                             state->listing->rows[entry->row].target);
    if (row < state->listing->row_count)
        select_row(ui, Annotation_entry(&state->annotation, row));
    else
        Ui_say(ui, true, "This line does not jump.");
}

// Returns a measure of the time that an entry takes. The measure is the number
// of samples, or cycles times hits if there are no samples.
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
        select_row(ui, i);
    }
    if (!(most > 0))
        Ui_say(ui, true, "Nothing is known of its time yet.");
}

static void toggle_natives(struct Ui *ui)
{
    struct AnnotateState *state = &ui->annotate;
    state->hides =
        !state->hides && state->listing && state->listing->native_count;
    Ui_want_natives(ui, !state->hides);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct AnnotateRows rows;
    if (request == ANNOTATE_FOLLOW) {
        follow(ui);
    } else if (request == ANNOTATE_HOTTEST) {
        go_to_hottest(ui);
    } else if (request == ANNOTATE_PERIOD) {
        next_period(ui);
    } else if (request == ANNOTATE_NATIVES) {
        toggle_natives(ui);
    } else {
        fill(ui, &rows);
        return List_press(&ui->lists[VIEW_ANNOTATE], &rows.rows, request, key);
    }
    return true;
}

static int json(const struct Ui *ui, struct Bytes *out)
{
    if (!ui->annotate.listing)
        return -ENODATA;
    return Json_record(out, &LISTING_RECORD, ui->annotate.listing);
}

const struct View ANNOTATE_VIEW = {
    .name = "Annotate",
    .opens =
        BINDING(0, CAN_FUNCTION, "annotate: a function's source and bytecode",
                NULL, "Annotate", 4, PRESS_ENTER, PRESS_RIGHT),
    .own = KEYS,
    .can = CAN_SEARCH | CAN_FUNCTION | CAN_UNITS | CAN_RESET,
    .open = open_view,
    .want = want,
    .draw = draw,
    .reset = reset,
    .press = press,
    .find = find,
    .function = selected_function,
    .json = json};

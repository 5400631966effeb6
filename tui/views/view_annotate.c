// SPDX-License-Identifier: MIT
// See view_annotate.h.
#include "tui/views/view_annotate.h"

#include "tui/app/screen.h"
#include "tui/model/column.h"
#include "tui/model/json.h"
#include "tui/text/text.h"
#include "tui/views/annotate_row.h"
#include "tui/views/annotate_title.h"
#include "tui/views/header.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void forget(struct AnnotateView *view)
{
    Listing_free(view->listing);
    view->listing = NULL;
    view->rows = NULL;
    Source_release(&view->source);
    Annotation_release(&view->annotation);
    History_release(&view->history);
    Moment_release(&view->now);
    view->list = (struct List){0};
    view->replaced = false;
}

void ViewAnnotate_release(struct AnnotateView *view)
{
    forget(view);
}

static void look_at(struct AnnotateView *view, const struct Row *row)
{
    uint64_t id = row ? row->id : 0;
    if (id && id == view->id)
        return;
    forget(view);
    view->id = id;
    view->period = PERIOD_SINCE;
    snprintf(view->name, sizeof view->name, "%.250s",
             row ? Column_text_key(COLUMN_FUNCTION, row) : "");
}

void ViewAnnotate_open(struct Screen *screen, uint64_t function)
{
    look_at(&screen->annotate, Model_row_of(&screen->model, function));
    // So that it stays selected on the main screen, if it is there at all.
    Model_choose(&screen->model, function);
}

uint64_t ViewAnnotate_function(const struct Screen *screen)
{
    return screen->annotate.id;
}

// The same function, made anew: a reload, a decorator that runs again.
static const struct Row *find_successor(const struct Screen *screen)
{
    const struct AnnotateView *view = &screen->annotate;
    const struct Model *model = &screen->model;
    const struct Row *found = NULL;
    if (!view->listing || !view->listing->name || !view->listing->file)
        return NULL;
    for (size_t i = 0; i < model->row_count; i++) {
        const struct Row *row = &model->rows[i];
        const struct Function *now = row->now;
        if (now && now->id > view->id && now->name && now->file &&
            !strcmp(now->name, view->listing->name) &&
            !strcmp(now->file, view->listing->file) &&
            now->line == view->listing->line && (!found || now->id > found->id))
            found = row;
    }
    return found;
}

static void follow_successor(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    const struct FeedListing *answer = &screen->feed->listing;
    const struct Row *row;
    if (answer->id != view->id || answer->error != ENOENT)
        return;
    row = find_successor(screen);
    if (!row)
        return;
    look_at(view, row);
    view->replaced = true;
    Model_choose(&screen->model, row->id);
}

// --- What comes

static struct SourceWish wish_of(const struct Screen *screen)
{
    const struct Listing *listing = screen->annotate.listing;
    return (struct SourceWish){.pid = screen->feed->pid,
                               .file = listing->file ? listing->file : "",
                               .process_start_s = listing->process_start_s};
}

static double known(uint64_t count)
{
    return count == NULL_U64 ? 0 : (double)count;
}

static struct Moment moment_of(const struct Listing *listing)
{
    struct Moment moment = {.at_s = listing->at_s};
    moment.totals = calloc(listing->row_count + 1, sizeof *moment.totals);
    for (size_t i = 0; moment.totals && i < listing->row_count; i++) {
        const struct ListingRow *row = &listing->rows[i];
        moment.totals[i] = (struct Total){row->offset, known(row->samples),
                                          known(row->c_samples)};
    }
    moment.count = moment.totals ? listing->row_count : 0;
    return moment;
}

// The view's own rows, in which the samples may be others than those that came.
static struct ListingRow *copy_rows(struct Listing *listing)
{
    size_t size = listing->row_count * sizeof *listing->rows;
    struct ListingRow *rows = size ? Arena_alloc(&listing->arena, size) : NULL;
    if (!rows)
        return NULL;
    memcpy(rows, listing->rows, size);
    listing->rows = rows;
    return rows;
}

// Gives the rows the samples of the period.
static void weigh(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    const struct Moment *now = &view->now, *then;
    struct ListingRow *rows = view->rows;
    then = History_begin(&view->history, now->at_s, view->period);
    view->period_s = now->at_s - then->at_s;
    for (size_t i = 0; rows && i < now->count; i++) {
        struct Total since = Moment_since(then, &now->totals[i]);
        if (rows[i].samples != NULL_U64)
            rows[i].samples = (uint64_t)since.all;
        if (rows[i].c_samples != NULL_U64)
            rows[i].c_samples = (uint64_t)since.in_c;
    }
    Annotation_release(&view->annotation);
    if (Annotation_make(&view->annotation, view->listing, &view->source))
        Screen_say(screen, true, "There is no memory for so much code.");
    screen->changed = true;
}

void ViewAnnotate_reset(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    if (screen->view != VIEW_ANNOTATE || !view->listing)
        return;
    History_mark(&view->history, &view->now);
    view->period = PERIOD_SINCE;
    weigh(screen);
}

static void next_period(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    view->period = view->period == PERIOD_SINCE ? PERIOD_5_S : view->period + 1;
    if (view->listing)
        weigh(screen);
}

static void take_listing(struct Screen *screen, struct Listing *listing)
{
    struct AnnotateView *view = &screen->annotate;
    bool first = view->listing == NULL;
    Listing_free(view->listing);
    view->listing = listing;
    struct SourceWish wish = wish_of(screen);
    if (first || Source_is_stale(&view->source, &wish)) {
        Source_release(&view->source);
        Source_load(&view->source, &wish);
    }
    Moment_release(&view->now);
    view->now = moment_of(listing);
    view->rows = copy_rows(listing);
    History_note(&view->history, &view->now);
    weigh(screen);
}

void ViewAnnotate_want(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    struct Listing *listing = Feed_take_listing(screen->feed);
    if (listing && listing->id == view->id)
        take_listing(screen, listing);
    else
        Listing_free(listing);
    follow_successor(screen);
    Feed_want_listing(screen->feed, view->id);
}

// --- The body

// --- The screen

// What to read while there is no code.
static void draw_nothing(struct Screen *screen)
{
    const struct FeedListing *answer = &screen->feed->listing;
    char text[400], why[280];
    struct Box box = {screen->layout.body_y, 1, screen->canvas.width - 2};
    double silent = Feed_now() - answer->asked_at;
    Text_clean(why, sizeof why, answer->why);
    if (!screen->annotate.id)
        snprintf(text, sizeof text, "No function is selected.");
    else if (screen->feed->ended)
        snprintf(text, sizeof text,
                 "The program has ended before its code was asked for.");
    else if (answer->error == EOPNOTSUPP)
        snprintf(text, sizeof text,
                 "The process runs an older Ocular, which does not tell code "
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
    Canvas_fit(&screen->canvas, box, answer->error ? STYLE_ALERT : STYLE_FAINT,
               CUT_END, text);
}

void ViewAnnotate_show(struct Screen *screen, const struct Status *status)
{
    struct AnnotateView *view = &screen->annotate;
    struct Canvas *canvas = &screen->canvas;
    const struct Layout *layout = &screen->layout;
    struct List *list = &view->list;
    Header_draw_process(canvas, &screen->model, status);
    AnnotateTitle_draw(screen, &status->display);
    struct AnnotatePlaces places =
        AnnotateRow_place(canvas->width, isfinite(view->annotation.samples));
    AnnotateRow_draw_bar(canvas, layout->table_y, &places, view,
                         &status->display);
    List_fit(list, (long)view->annotation.count, layout->body_height);
    if (!view->annotation.count) {
        draw_nothing(screen);
        return;
    }
    for (int i = 0; i < layout->body_height; i++) {
        long index = list->top + i;
        int y = layout->body_y + i;
        if (index >= list->count)
            break;
        AnnotateRow_draw(canvas, y, &places, view,
                         &view->annotation.entries[index], &status->display);
        if (index != list->selected)
            continue;
        Canvas_put(canvas, y, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas, (struct Box){y, 0, canvas->width});
    }
}

// --- Keys

static bool has_text(const struct AnnotateView *view, const struct Entry *entry,
                     const char *text)
{
    const struct ListingRow *row;
    if (entry->kind == ENTRY_SOURCE)
        return Text_has(Source_line(&view->source, entry->line), text);
    if (entry->kind != ENTRY_CODE)
        return false;
    row = &view->listing->rows[entry->row];
    return Text_has(row->opcode, text) || Text_has(row->live, text) ||
           Text_has(row->words, text) || Text_has(row->callee, text);
}

bool ViewAnnotate_find(struct Screen *screen, int step, bool here)
{
    struct AnnotateView *view = &screen->annotate;
    long count = (long)view->annotation.count;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (view->list.selected + step * away + 2 * count) % count;
        if (!has_text(view, &view->annotation.entries[index],
                      screen->model.search))
            continue;
        List_select(&view->list, index);
        return true;
    }
    return false;
}

static void follow(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    const struct Entry *entry;
    size_t row = LISTING_ROWS;
    if (!view->annotation.count)
        return;
    entry = &view->annotation.entries[view->list.selected];
    if (entry->kind == ENTRY_CODE &&
        view->listing->rows[entry->row].target != NULL_U64)
        row = Annotation_row(view->listing,
                             view->listing->rows[entry->row].target);
    if (row < view->listing->row_count)
        List_select(&view->list,
                    (long)Annotation_entry(&view->annotation, row));
    else
        Screen_say(screen, true, "This line does not jump.");
}

// What an entry took of the function's time: as sampled, or else as the hooks
// have seen it.
static double weight_of(const struct AnnotateView *view,
                        const struct Entry *entry)
{
    const struct ListingRow *row;
    if (entry->kind == ENTRY_SOURCE)
        return isnan(entry->samples) ? -1 : entry->samples;
    if (entry->kind != ENTRY_CODE)
        return -1;
    row = &view->listing->rows[entry->row];
    if (view->annotation.samples > 0)
        return Row_u64(row->samples);
    return row->cycles * Row_u64(row->hits);
}

static void go_to_hottest(struct Screen *screen)
{
    struct AnnotateView *view = &screen->annotate;
    double most = 0;
    for (size_t i = 0; i < view->annotation.count; i++) {
        double weight = weight_of(view, &view->annotation.entries[i]);
        if (!(weight > most))
            continue;
        most = weight;
        List_select(&view->list, (long)i);
    }
    if (!(most > 0))
        Screen_say(screen, true, "Nothing is known of its time yet.");
}

static void click(struct Screen *screen, int y)
{
    struct List *list = &screen->annotate.list;
    long index = List_at(list, y - screen->layout.body_y);
    if (index >= 0)
        List_select(list, index);
}

bool ViewAnnotate_press(struct Screen *screen, int request, uint32_t key)
{
    if (request == ANNOTATE_FOLLOW)
        follow(screen);
    else if (request == ANNOTATE_HOTTEST)
        go_to_hottest(screen);
    else if (request == ANNOTATE_PERIOD)
        next_period(screen);
    else if (request == REQUEST_CLICK)
        click(screen, Key_y(key));
    else
        return List_move(&screen->annotate.list, request);
    return true;
}

int ViewAnnotate_json(const struct Screen *screen, struct Bytes *out)
{
    if (!screen->annotate.listing)
        return -ENODATA;
    return Json_listing(out, screen->annotate.listing);
}

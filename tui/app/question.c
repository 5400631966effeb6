// SPDX-License-Identifier: MIT
// See question.h.
#include "tui/app/question.h"

#include "tui/model/save.h"
#include "tui/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_FOUND "%s: nothing here has \"%s\" in it."

// --- What the answers do

// "2", "0.5 %": a share, or NAN.
static double read_percent(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0 && value <= 100))
        return NAN;
    while (*end == ' ' || *end == '%')
        end++;
    return *end ? NAN : value / 100;
}

static void change_budget(struct Screen *screen, const char *text)
{
    char said[96], number[NUMBER_MAX];
    double share = read_percent(text);
    if (isnan(share)) {
        Screen_say(screen, true,
                   "The budget is more than 0 and at most 100 per cent, for "
                   "example 0.5; it stays as it is.");
        return;
    }
    snprintf(said, sizeof said, "Asking for a budget of %s…",
             Number_percent(number, share));
    Screen_asked(screen, Feed_budget(screen->feed, share), said);
}

static void start_export(struct Screen *screen, bool overwrite)
{
    const struct Feed *feed = screen->feed;
    const char *path = screen->export_path;
    memcpy(screen->export_path, screen->prompt.text,
           sizeof screen->export_path);
    int error = Feed_export(screen->feed, path, overwrite);
    if (!error || error == -EPIPE || feed->replay)
        Screen_asked(screen, error, "Exporting the timeline… Esc stops.");
    else if (error == -EEXIST)
        memcpy(screen->existing, path, sizeof screen->existing);
    else if (error == -EBUSY)
        Screen_say(screen, true, "An export is under way: Esc stops it.");
    else if (error == -EINVAL || error == -EISDIR)
        Screen_say_path(screen, path, true,
                        "%s is no regular file: choose another name", path);
    else
        Screen_say_path(screen, path, true,
                        "The timeline was not exported to %s: %s", path,
                        strerror(-error));
}

// What a file's numbers are, where that is not as a matter of course.
static const char *what_counts(const struct Screen *screen)
{
    const struct Model *model = &screen->model;
    bool part = screen->view == VIEW_MAIN && model->one_thread;
    if (screen->view == VIEW_FLAME)
        return "";
    if (screen->view == VIEW_ANNOTATE)
        return model->reset ? ". Its hits are since the start." : "";
    if (part && model->baseline)
        return ". Its shares are this thread's, and no changes since the "
               "baseline.";
    if (model->baseline)
        return ". Its numbers are no changes since the baseline.";
    if (part && model->reset)
        return ". Its shares are this thread's, its counts since the reset.";
    if (part)
        return ". Its shares are this thread's.";
    return model->reset ? ". Its counts are since the reset." : "";
}

static void save(struct Screen *screen, bool overwrite)
{
    struct Bytes json;
    char size[NUMBER_MAX];
    const char *path = screen->prompt.text;
    Bytes_init(&json);
    int error = Screen_json(screen, &json);
    if (!error)
        error = Save_file(path, json.data, json.size, overwrite);
    if (error == -EEXIST)
        Prompt_open(&screen->prompt, PROMPT_OVERWRITE_SAVE, path);
    else if (error == -ENODATA)
        Screen_say_path(screen, path, true,
                        "%s was not saved: there is nothing to see here yet",
                        path);
    else if (error == -EINVAL)
        Screen_say_path(screen, path, true,
                        "%s is no regular file: choose another name", path);
    else if (error)
        Screen_say_path(screen, path, true, "%s was not saved: %s", path,
                        strerror(-error));
    else
        Screen_say_path(screen, path, false, "Saved as JSON: %s, %s%s", path,
                        Number_bytes(size, (double)json.size),
                        what_counts(screen));
    Bytes_release(&json);
}

void Question_find(struct Screen *screen, int step)
{
    const struct View *view = View_of(screen);
    if (!*screen->model.search)
        Screen_say(screen, true,
                   "Nothing to search for yet: / begins a search.");
    else if (!view->find(screen, step, false))
        Screen_say(screen, true, NOT_FOUND, view->name, screen->model.search);
}

// --- Opening, typing, leaving

void Question_open(struct Screen *screen, enum PromptKind kind)
{
    char path[64] = "ocular_trace.json";
    const struct Snapshot *snapshot = screen->model.snapshot;
    const char *text = path;
    if (kind != PROMPT_FILTER && kind != PROMPT_SEARCH && !snapshot) {
        Screen_say(screen, true, "There are no numbers yet.");
        return;
    }
    if (kind == PROMPT_FILTER)
        text = screen->model.filter;
    else if (kind == PROMPT_SEARCH)
        text = "";
    else if (kind == PROMPT_BUDGET)
        snprintf(path, sizeof path, "%.4g",
                 snapshot->overhead_budget > 0 ? snapshot->overhead_budget * 100
                                               : 1.0);
    else if (kind == PROMPT_SAVE)
        snprintf(path, sizeof path, "ocular-%llu.json",
                 (unsigned long long)snapshot->pid);
    const struct View *view = View_of(screen);
    if (kind == PROMPT_SEARCH && view->keep)
        view->keep(screen);
    Prompt_open(&screen->prompt, kind, text);
}

// Search and filter act while they are typed. A search is back where it began
// where nothing matches.
static void follow_typing(struct Screen *screen)
{
    struct Model *model = &screen->model;
    const struct View *view = View_of(screen);
    const char *text = screen->prompt.text;
    if (screen->prompt.kind == PROMPT_FILTER) {
        Model_filter(model, text);
    } else if (screen->prompt.kind == PROMPT_SEARCH) {
        snprintf(model->search, sizeof model->search, "%.255s", text);
        if (view->back)
            view->back(screen);
        view->find(screen, 1, true);
    }
}

static void finish_prompt(struct Screen *screen, enum PromptKind kind)
{
    const char *text = screen->prompt.text;
    bool path = kind == PROMPT_EXPORT || kind == PROMPT_SAVE;
    if (path && !*text)
        Screen_say(screen, true, "Nothing was written: a file needs a name.");
    else if (kind == PROMPT_EXPORT || kind == PROMPT_OVERWRITE_EXPORT)
        start_export(screen, kind == PROMPT_OVERWRITE_EXPORT);
    else if (kind == PROMPT_SAVE || kind == PROMPT_OVERWRITE_SAVE)
        save(screen, kind == PROMPT_OVERWRITE_SAVE);
    else if (kind == PROMPT_BUDGET)
        change_budget(screen, text);
    else if (kind == PROMPT_SEARCH && *text &&
             !View_of(screen)->find(screen, 1, true))
        Screen_say(screen, true, NOT_FOUND, View_of(screen)->name, text);
}

void Question_press(struct Screen *screen, uint32_t key)
{
    enum PromptKind kind = screen->prompt.kind;
    switch (Prompt_key(&screen->prompt, key)) {
    case PROMPT_EDITING:
        follow_typing(screen);
        break;
    case PROMPT_DONE:
        Prompt_close(&screen->prompt);
        finish_prompt(screen, kind);
        break;
    case PROMPT_CANCELLED:
        Prompt_close(&screen->prompt);
        if (kind == PROMPT_FILTER)
            Model_filter(&screen->model, "");
        else if (kind == PROMPT_BUDGET)
            Screen_say(screen, false, "The budget stays as it is.");
        else if (kind != PROMPT_SEARCH)
            Screen_say(screen, false, "Nothing was written.");
        break;
    }
}

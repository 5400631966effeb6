// SPDX-License-Identifier: MIT
#include "tui/app/question.h"

#include "ipc/base/opened.h"
#include "ipc/file_kind.h"
#include "tui/text/number.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_FOUND "%s: nothing here has \"%s\" in it."

// --- Effects of the answers

// Reads a text such as "2" or "0.5 %" as a share. Returns NAN if the
// text is invalid.
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

static void change_budget(struct Ui *ui, const char *text)
{
    char said[96], number[NUMBER_MAX];
    double share = read_percent(text);
    if (isnan(share)) {
        Ui_say(ui, true,
               "The budget is more than 0 and at most 100 per cent, for "
               "example 0.5; it stays as it is.");
        return;
    }
    snprintf(said, sizeof said, "Asking for a budget of %s…",
             Number_percent(number, share));
    Ui_say_asked(ui, Feed_budget(ui->feed, share), said);
}

// Reads a text such as "12.5", "1:02.5" or "1:00:02" as seconds. A text such as
// "-10" means 10 seconds before `end_s`. Returns NAN if the text is invalid.
static double read_clock(const char *text, double end_s)
{
    bool back = *text == '-';
    double s = 0;
    char *end;
    for (text += back;; text = end + 1) {
        double part = strtod(text, &end);
        if (end == text || !(part >= 0 && part < 1e9) ||
            strspn(text, "0123456789.") != (size_t)(end - text))
            return NAN;
        s = 60 * s + part;
        if (*end != ':')
            break;
    }
    while (*end == ' ' || *end == 's')
        end++;
    return *end ? NAN : back ? end_s - s : s;
}

static void read_stretch(struct Ui *ui, struct SummaryStretch stretch)
{
    int error = Feed_stretch(ui->feed, stretch);
    if (error)
        Ui_say(ui, true, "It cannot be read: %s", strerror(-error));
    else
        Ui_say(ui, false, "Reading that part of the recording…");
}

static void change_stretch(struct Ui *ui, bool begins, const char *text)
{
    struct SummaryStretch all, shown;
    if (!PastRun_stretches(ui->feed->link.past, &all, &shown)) {
        Ui_say(ui, true, "The recording is still being read.");
        return;
    }
    double s =
        !*text ? begins ? all.from_s : all.to_s : read_clock(text, all.to_s);
    if (begins)
        shown.from_s = s;
    else
        shown.to_s = s;
    if (isnan(s))
        Ui_say(ui, true,
               "A time is 12.5, 1:02.5, or -10 for ten seconds before the "
               "end.");
    else if (!(shown.from_s < shown.to_s) || shown.from_s >= all.to_s ||
             shown.to_s <= all.from_s)
        Ui_say(ui, true, "There would be nothing between these two.");
    else
        read_stretch(ui, shown);
}

static void start_export(struct Ui *ui, bool overwrite)
{
    const struct Feed *feed = ui->feed;
    const char *path = ui->export_path;
    memcpy(ui->export_path, ui->prompt.text, sizeof ui->export_path);
    if (FileKind_of(path).content == FILE_PAGE) {
        Ui_say(ui, true,
               "`ocular convert` makes a flame graph, of an export to a name "
               "that ends in .folded.");
        return;
    }
    int error = Feed_export(ui->feed, path, overwrite);
    if (!error || error == -EPIPE || Feed_is_replay(feed))
        Ui_say_asked(ui, error, "Exporting the timeline… Esc stops.");
    else if (error == -EEXIST)
        memcpy(ui->existing, path, sizeof ui->existing);
    else if (error == -EBUSY)
        Ui_say(ui, true, "An export is under way: Esc stops it.");
    else if (error == -EINVAL || error == -EISDIR)
        Ui_say_path(ui, path, true,
                    "%s is no regular file: choose another name", path);
    else
        Ui_say_path(ui, path, true, "The timeline was not exported to %s: %s",
                    path, strerror(-error));
}

// Writes a file whose name the user has typed. Returns 0 or -errno: -EEXIST if
// the file exists and `overwrite` is not set, -EINVAL if the path is no regular
// file.
static int write_file(const char *path, const void *data, size_t size,
                      bool overwrite)
{
    struct stat status;
    // O_NONBLOCK makes open() of a pipe without a reader fail at once instead
    // of waiting for a reader.
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    int fd = open(path, flags | (overwrite ? 0 : O_EXCL), 0666);
    if (fd < 0)
        return errno == ENXIO ? -EINVAL : -errno;
    int error = 0;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode))
        error = -EINVAL;
    else if (ftruncate(fd, 0))
        error = -errno;
    if (!error)
        error = Opened_write(fd, data, size);
    if (close(fd) && !error)
        error = -errno;
    return error;
}

static void save(struct Ui *ui, bool overwrite)
{
    struct Bytes json;
    char size[NUMBER_MAX];
    const char *path = ui->prompt.text;
    Bytes_init(&json);
    int error = Ui_write_json(ui, &json);
    if (!error)
        error = write_file(path, json.data, json.size, overwrite);
    if (error == -EEXIST)
        Prompt_open(&ui->prompt, PROMPT_OVERWRITE_SAVE, path);
    else if (error == -ENODATA)
        Ui_say_path(ui, path, true,
                    "%s was not saved: there is nothing to see here yet", path);
    else if (error == -EINVAL)
        Ui_say_path(ui, path, true,
                    "%s is no regular file: choose another name", path);
    else if (error)
        Ui_say_path(ui, path, true, "%s was not saved: %s", path,
                    strerror(-error));
    else
        Ui_say_path(ui, path, false, "Saved as JSON: %s, %s%s", path,
                    Number_bytes(size, (double)json.size), Ui_json_note(ui));
    Bytes_release(&json);
}

void Question_find(struct Ui *ui, int step)
{
    const struct View *view = Navigation_front(ui);
    if (!*ui->model.search)
        Ui_say(ui, true, "Nothing to search for yet: / begins a search.");
    else if (!view->find(ui, step, false))
        Ui_say(ui, true, NOT_FOUND, view->name, ui->model.search);
}

// --- Opening a question, typing, and leaving it

// Returns the list of the shown view. The latency view has the main view's
// list. The flame view has no list, but the paths in struct FlameState.
static struct List *list_of(struct Ui *ui)
{
    return &ui->lists[ui->view == VIEW_LATENCY ? VIEW_MAIN : ui->view];
}

void Question_open(struct Ui *ui, enum PromptKind kind)
{
    char path[64] = "ocular_trace.json";
    const struct Snapshot *snapshot = ui->model.snapshot;
    const char *text = path;
    if (kind != PROMPT_FILTER && kind != PROMPT_SEARCH && !snapshot) {
        Ui_say(ui, true, "There are no numbers yet.");
        return;
    }
    if (kind == PROMPT_FILTER)
        text = ui->model.filter;
    else if (kind == PROMPT_SEARCH || kind == PROMPT_FROM ||
             kind == PROMPT_TO || kind == PROMPT_BUDGET)
        text = "";
    else if (kind == PROMPT_SAVE)
        snprintf(path, sizeof path, "ocular-%llu.json",
                 (unsigned long long)snapshot->pid);
    if (kind == PROMPT_SEARCH) {
        ui->search_from = *list_of(ui);
        ui->flame.search_zoom = ui->flame.zoom;
        ui->flame.search_selected = ui->flame.selected;
    }
    Prompt_open(&ui->prompt, kind, text);
}

// Searching and filtering begin with the first typed character. After each
// character the search begins again where it began first. If no row matches,
// the row is selected again that was selected before the search.
static void follow_typing(struct Ui *ui)
{
    struct Model *model = &ui->model;
    const char *text = ui->prompt.text;
    if (ui->prompt.kind == PROMPT_FILTER) {
        Model_filter(model, text);
    } else if (ui->prompt.kind == PROMPT_SEARCH) {
        snprintf(model->search, sizeof model->search, "%.255s", text);
        *list_of(ui) = ui->search_from;
        ui->flame.zoom = ui->flame.search_zoom;
        ui->flame.selected = ui->flame.search_selected;
        Navigation_front(ui)->find(ui, 1, true);
    }
}

static void finish_prompt(struct Ui *ui, enum PromptKind kind)
{
    const char *text = ui->prompt.text;
    bool path = kind == PROMPT_EXPORT || kind == PROMPT_SAVE;
    if (path && !*text)
        Ui_say(ui, true, "Nothing was written: a file needs a name.");
    else if (kind == PROMPT_EXPORT || kind == PROMPT_OVERWRITE_EXPORT)
        start_export(ui, kind == PROMPT_OVERWRITE_EXPORT);
    else if (kind == PROMPT_SAVE || kind == PROMPT_OVERWRITE_SAVE)
        save(ui, kind == PROMPT_OVERWRITE_SAVE);
    else if (kind == PROMPT_BUDGET)
        change_budget(ui, text);
    else if (kind == PROMPT_FROM || kind == PROMPT_TO)
        change_stretch(ui, kind == PROMPT_FROM, text);
    else if (kind == PROMPT_SEARCH && *text &&
             !Navigation_front(ui)->find(ui, 1, true))
        Ui_say(ui, true, NOT_FOUND, Navigation_front(ui)->name, text);
}

void Question_press(struct Ui *ui, uint32_t key)
{
    enum PromptKind kind = ui->prompt.kind;
    switch (Prompt_key(&ui->prompt, key)) {
    case PROMPT_EDITING:
        follow_typing(ui);
        break;
    case PROMPT_DONE:
        Prompt_close(&ui->prompt);
        finish_prompt(ui, kind);
        break;
    case PROMPT_CANCELLED:
        Prompt_close(&ui->prompt);
        if (kind == PROMPT_FILTER)
            Model_filter(&ui->model, "");
        else if (kind == PROMPT_BUDGET)
            Ui_say(ui, false, "The budget stays as it is.");
        else if (kind == PROMPT_FROM || kind == PROMPT_TO)
            Ui_say(ui, false, "The stretch stays as it is.");
        else if (kind != PROMPT_SEARCH)
            Ui_say(ui, false, "Nothing was written.");
        break;
    }
}

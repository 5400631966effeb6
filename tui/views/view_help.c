// SPDX-License-Identifier: MIT
#include "tui/views/view_help.h"

#include "tui/text/text.h"
#include "tui/views/navigation.h"
#include "tui/views/table_column.h"
#include "tui/views/ui.h"

#include <stdio.h>
#include <string.h>

#define KEYS_WIDTH 20
// Width in cells of the titles and marks that are explained.
#define LEGEND_WIDTH 11
#define SIDE_BY_SIDE 140

// --- Terms and their meanings, broken into lines

#define HELP_LINES 240

struct HelpLine {
    char term[64];
    uint8_t style; // Style in which the term is drawn.
    // The meaning of the term, or NULL if the line is a heading.
    const char *text;
    int length; // Length of `text` in bytes.
};

struct HelpText {
    int term; // Width of the column of terms in cells.
    // Width of the column of texts in cells. If a text is longer, it takes
    // several lines.
    int room;
    struct HelpLine lines[HELP_LINES];
    int count;
};

// Adds a term and its text. If there are HELP_LINES lines already, ignores the
// rest.
static void add_text(struct HelpText *help, enum Style style, const char *term,
                     const char *text)
{
    do {
        if (help->count == HELP_LINES)
            return;
        struct HelpLine *line = &help->lines[help->count++];
        snprintf(line->term, sizeof line->term, "%s", term);
        line->style = (uint8_t)style;
        line->text = text;
        if (!text)
            return;
        line->length = (int)Text_line(text, help->room);
        text += line->length;
        text += *text == ' ';
        term = "";
    } while (*text);
}

// Adds a blank line and a heading.
static void add_heading(struct HelpText *help, const char *heading)
{
    if (help->count)
        add_text(help, STYLE_PLAIN, "", "");
    add_text(help, STYLE_ACCENT, heading, NULL);
}

// Draws the lines of the help from the index `top` on, as many as fit between
// box.y and the bottom line.
static void draw_text(const struct HelpText *help, struct Canvas *canvas,
                      int top, struct Box box)
{
    int lines = canvas->height - 2 - box.y;
    for (int i = 0; i < lines && top + i < help->count; i++) {
        const struct HelpLine *line = &help->lines[top + i];
        struct Box place = {box.y + i, box.x, box.width};
        if (line->text) {
            place.x += 2;
            place.width = help->term;
        }
        Canvas_fit(canvas, place, line->style, CUT_END, line->term);
        if (!line->text)
            continue;
        place.x += help->term + 1;
        place.width = box.x + box.width - place.x;
        char text[256];
        snprintf(text, sizeof text, "%.*s", line->length, line->text);
        Canvas_fit(canvas, place, STYLE_PLAIN, CUT_END, text);
    }
}

// --- The settings of the trace

#define SETTING_SIZE 400

// struct Settings stores texts about the settings of the trace, because a line
// of the help only points to its text.
struct Settings {
    char versions[SETTING_SIZE];
    char hooks[SETTING_SIZE];
    char budget[SETTING_SIZE];
    char exclude[SETTING_SIZE];
    char include_only[SETTING_SIZE];
};

static void join(char out[SETTING_SIZE], const struct FilterRule *rules,
                 size_t count)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < count && used < SETTING_SIZE; i++)
        used +=
            (size_t)snprintf(out + used, SETTING_SIZE - used, "%s%.100s",
                             i ? ", " : "", rules[i].text ? rules[i].text : "");
}

static void add_settings(struct HelpText *help, struct Settings *settings,
                         const struct Snapshot *snapshot)
{
    double budget = snapshot->overhead_budget;
    snprintf(settings->versions, SETTING_SIZE, "%.100s, Ocular %.40s",
             snapshot->python ? snapshot->python : "?",
             snapshot->version ? snapshot->version : "?");
    snprintf(settings->hooks, SETTING_SIZE, "%.40s, threshold %llu",
             snapshot->mode ? snapshot->mode : "?",
             (unsigned long long)snapshot->threshold);
    snprintf(settings->budget, SETTING_SIZE, "%.4g%% of its CPU time",
             100 * budget);
    join(settings->exclude, snapshot->filter_exclude,
         snapshot->filter_exclude_count);
    join(settings->include_only, snapshot->filter_include_only,
         snapshot->filter_include_only_count);
    add_heading(help, "This trace");
    add_text(help, STYLE_STRONG, "versions", settings->versions);
    add_text(help, STYLE_STRONG, "mode", settings->hooks);
    if (budget > 0)
        add_text(help, STYLE_STRONG, "budget", settings->budget);
    if (*settings->exclude)
        add_text(help, STYLE_STRONG, "excluded", settings->exclude);
    if (*settings->include_only)
        add_text(help, STYLE_STRONG, "only", settings->include_only);
}

// --- The page, from the tables that drive keys and columns

static void add_binding(struct HelpText *help, const struct Binding *binding)
{
    char term[64] = "", name[KEY_NAME_MAX];
    size_t used = 0;
    for (int i = 0; i < BINDING_KEYS && binding->keys[i]; i++)
        used +=
            (size_t)snprintf(term + used, sizeof term - used, "%s%s",
                             i ? "  " : "", Key_name(name, binding->keys[i]));
    add_text(help, STYLE_STRONG, term, binding->about);
}

// Adds the keys that open views, and the keys that belong to one view only.
static void add_views(struct HelpText *help, const struct View *const *views,
                      unsigned reach)
{
    add_heading(help, "Views");
    for (int i = 0; i < VIEW_COUNT; i++)
        if (views[i]->opens.keys[0] &&
            !(views[i]->opens.ability & CAN_COMPARE & ~reach))
            add_binding(help, &views[i]->opens);
    for (int i = 0; i < VIEW_COUNT; i++) {
        const struct Binding *own = views[i]->own;
        if (!own || i == VIEW_HELP)
            continue;
        add_heading(help, views[i]->name);
        for (; own->keys[0]; own++)
            add_binding(help, own);
    }
}

// Returns true if the help lists the binding under the heading `group`.
static bool is_listed(unsigned reach, const struct Binding *binding,
                      const char *group)
{
    return strcmp(binding->group, group) == 0 &&
           !(binding->ability & (CAN_REACH | CAN_STRETCH | CAN_COMPARE) &
             ~reach);
}

// Adds all groups of keys, each with a heading. The order of the groups is that
// of their first keys in KEYMAP.
static void add_keys(struct HelpText *help, unsigned reach)
{
    for (size_t i = 0; i < KEYMAP_COUNT; i++) {
        const char *group = KEYMAP[i].group;
        bool first = is_listed(reach, &KEYMAP[i], group);
        for (size_t k = 0; k < i; k++)
            first &= !is_listed(reach, &KEYMAP[k], group);
        if (!first)
            continue;
        add_heading(help, group);
        for (size_t k = i; k < KEYMAP_COUNT; k++)
            if (is_listed(reach, &KEYMAP[k], group))
                add_binding(help, &KEYMAP[k]);
    }
}

struct HelpMark {
    enum Style style;
    const char *mark, *about;
};

static const struct HelpMark MARKS[] = {
    {STYLE_ARMED, "● armed", "every call is counted and timed"},
    {STYLE_PARTIAL, "◐ partial", "some of its hooks are taken out"},
    {STYLE_DARK, "○ dark",
     "all are: it runs at full speed and is only sampled"},
    {STYLE_ALERT, "3m!", "older than 150 s, though it runs: a re-arms it"},
    {STYLE_ALERT, "OLDEST 18s!",
     "it hangs: over 1 s and 10 x P99, or 5 s if no call has ended yet"},
    {STYLE_STRONG, ">= 512", "at least so many: it was dark for a time"},
    {STYLE_STRONG, "~ 8.1G", "an estimate from samples and mean cost"},
    {STYLE_STRONG, "< 53",
     "a call so short that it cannot be told from nothing"},
    {STYLE_STRONG, "< 0.3%", "less than one sample; blank: none in the window"},
    {STYLE_FAINT, "3%  ~20", "dimmed, one digit: from fewer than ten samples"},
    {STYLE_FAINT, "over 30 s",
     "in the header: the window of all shares, and its samples"},
    {STYLE_FAINT, "gc 1.2%",
     "in the header: garbage collection in the last 10 s (in a recording: in "
     "the run), and its longest pause, both counted"},
    {STYLE_ALERT, "loop stalled, GIL kept",
     "in the header: a step, or a C call with the GIL, took long (stall_ms)"},
    {STYLE_FAINT, "GIL held",
     "in the header: time in which a thread had the GIL, and the sum of the "
     "threads' waits for it, both sampled"},
    {STYLE_ALERT, "for a CPU",
     "in the header: threads were ready to run and had no CPU, sampled"},
    {STYLE_ACCENT, "█▓▒░",
     "the time of a function's calls: Python, C, waits, awaits, sampled"},
    {STYLE_FAINT, "FOR GIL",
     "in the threads view: the part of WAIT in which the thread was asleep for "
     "the GIL, sampled"},
    {STYLE_FAINT, "HOLDS",
     "in the threads view: the thread's CPU time with the GIL, sampled"},
    {STYLE_FAINT, "GIL held up",
     "in the threads view: the longest hold for which another thread waited, "
     "sampled, and its stack"},
    {STYLE_FAINT, "untraced",
     "in the header: share spent in code that is not traced"},
    {STYLE_FAINT, "gone",
     "share, since the start, of functions that exist no more"},
    {STYLE_ALERT, "unread",
     "of the samples: stacks that could not be read, in no share"},
    {STYLE_ALERT, "too deep",
     "of the samples: stacks of more than 256 calls, cut there"},
    {STYLE_ALERT, "-> deopt!",
     "in annotate: was specialised, is its base again"},
    {STYLE_FAINT, "-> never",
     "in annotate: it can be specialised, and never was"},
    {STYLE_HEAT_3, "███",
     "in annotate: share of the function's time, as sampled"},
    {STYLE_FAINT, "███ faint",
     "where nothing is sampled: cycles, if they differ"},
    {STYLE_STRONG, "cyc",
     "ticks of the time stamp counter: wall clock, not CPU time"},
};

static const struct HelpMark TASKS[] = {
    {STYLE_STRONG, "TASKS", "tasks of the coroutine that have not ended"},
    {STYLE_STRONG, "GROWTH/min",
     "in the newest minute (red: it only grew for a minute: a leak?)"},
    {STYLE_STRONG, "OLDEST",
     "least age of the oldest (red: over 1 s and 10 x P50)"},
    {STYLE_STRONG, "MOST WAIT IN",
     "innermost await at which most of them wait"},
    {STYLE_STRONG, "AWAITED BY",
     "await chain of the oldest task, from its coroutine inwards"},
    {STYLE_ALERT, "STEP",
     "longest step in the log of stalls (L); missing if there was none"},
    {STYLE_STRONG, "STATE",
     "of a single task (Enter): new, waits, ready to go on, or runs"},
    {STYLE_STRONG, "FOR", "the task or the type of future that it waits for"},
    {STYLE_ALERT, "3 never awaited",
     "coroutines, counted; as are errors that the loop has reported"},
};

static void add_marks(struct HelpText *help, const char *heading,
                      const struct HelpMark *marks, size_t count)
{
    add_heading(help, heading);
    for (size_t i = 0; i < count; i++)
        add_text(help, marks[i].style, marks[i].mark, marks[i].about);
}

static void add_columns(struct HelpText *help, bool latency)
{
    add_heading(help, latency ? "Columns of latency" : "Columns");
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (COLUMNS[i].latency == latency)
            add_text(help, STYLE_STRONG, TABLE[i].title, TABLE[i].about);
}

static void add_legend(struct HelpText *help)
{
    add_columns(help, false);
    add_columns(help, true);
    add_marks(help, "Columns of tasks", TASKS, sizeof TASKS / sizeof *TASKS);
    add_marks(help, "Marks", MARKS, sizeof MARKS / sizeof *MARKS);
}

static int clamp(int top, int count, int lines)
{
    int most = count > lines ? count - lines : 0;
    if (top > most)
        top = most;
    return top < 0 ? 0 : top;
}

void ViewHelp_draw_page(struct Canvas *canvas, const struct View *const *views,
                        int *top, unsigned reach,
                        const struct Snapshot *snapshot)
{
    struct Settings settings;
    struct HelpText keys = {.count = 0}, legend = {.count = 0};
    int width = canvas->width, lines = canvas->height - 4;
    bool both = width >= SIDE_BY_SIDE;
    struct HelpText *right = both ? &legend : &keys;
    struct Box left = {2, 2, both ? width / 2 - 3 : width - 3};
    keys.term = KEYS_WIDTH;
    legend.term = LEGEND_WIDTH;
    keys.room = left.width - keys.term - 3;
    legend.room = width - width / 2 - 1 - legend.term - 3;
    if (snapshot)
        add_settings(&keys, &settings, snapshot);
    add_views(&keys, views, reach);
    add_keys(&keys, reach);
    add_legend(right);
    int count = keys.count > legend.count ? keys.count : legend.count;
    *top = clamp(*top, count, lines);
    if (both)
        draw_text(&legend, canvas, *top,
                  (struct Box){2, width / 2, width - width / 2 - 1});
    draw_text(&keys, canvas, *top, left);
    Canvas_put(canvas, 0, 1, width, STYLE_ACCENT, "ocular-top");
    Canvas_put(canvas, 0, 13, width, STYLE_FAINT, "keys, columns and marks");
    if (count <= lines)
        return;
    char where[48];
    snprintf(where, sizeof where, "%d-%d of %d", *top + 1, *top + lines, count);
    Canvas_fit_right(canvas, (struct Box){0, 38, width - 39}, STYLE_FAINT,
                     where);
}

// --- As a view

enum { HELP_CLOSE = REQUEST_OWN, HELP_PAGE };

static const struct Binding KEYS[] = {
    BINDING(HELP_CLOSE, 0, "back", NULL, "Back", 1, PRESS_ESCAPE, 'q',
            PRESS_ENTER),
    BINDING(HELP_PAGE, 0, "one page down", NULL, "Next page", 2, ' '),
    {.request = 0},
};

static void open_view(struct Ui *ui, uint64_t function)
{
    (void)function;
    ui->help_top = 0;
}

static void draw(struct Ui *ui, const struct Status *status)
{
    (void)status;
    ViewHelp_draw_page(&ui->canvas, ui->views, &ui->help_top,
                       Navigation_reach(ui), ui->model.snapshot);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    (void)key;
    if (request == HELP_CLOSE) {
        Navigation_back(ui);
        return true;
    }
    if (request == HELP_PAGE) // Space scrolls by a page, as in other pagers.
        request = REQUEST_PAGE_DOWN;
    if (List_scroll(&ui->help_top, ui->canvas.height - 5, request))
        return true;
    // All other keys are ignored, because they act on views that are not
    // visible.
    return request != REQUEST_NONE && request != REQUEST_BACK &&
           request != REQUEST_REDRAW && request != REQUEST_QUIT;
}

const struct View HELP_VIEW = {
    .name = "Help",
    .opens = BINDING(0, 0, "this help", NULL, "Help", 1, PRESS_F1, '?', 'h'),
    .own = KEYS,
    .alone = true,
    .open = open_view,
    .draw = draw,
    .press = press};

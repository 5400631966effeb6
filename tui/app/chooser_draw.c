// SPDX-License-Identifier: MIT
#include "tui/app/chooser_draw.h"

#include "tui/screen/layout.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/view_help.h"
#include "tui/views/view_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_LEAST 20 // Least number of cells that an indented command gets.
#define MESSAGE_SIZE sizeof((struct Chooser *)0)->message
#define MESSAGE_MOST 6 // Largest number of lines that a message takes.

// --- Rows

static const char *next_word(const char *at)
{
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

// Returns the command without the folder of its first word.
static const char *short_command(const char *command)
{
    const char *name = command;
    for (const char *at = command; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            name = at + 1;
    return name;
}

// Returns true if a word of Ocular's command line is an option whose value is
// the next word.
static bool takes_value(const char *option)
{
    static const char names[] =
        "--mode --threshold --budget --stall-ms --events --exclude "
        "--include-only --output --timeline-limit --timeline-spill "
        "--output-seconds ";
    return memmem(names, sizeof names - 1, option, strcspn(option, " ") + 1);
}

// Returns the arguments from that script, module or code on which the Python
// interpreter or Ocular runs; "" if there is none.
static const char *script_of(const char *command)
{
    const char *at = next_word(command);
    while (*at == '-' && at[1] && at[1] != ' ') {
        bool is_long = at[1] == '-';
        if (takes_value(at))
            at = next_word(at);
        const char *flag = at + strcspn(at, is_long ? " " : "cmWX ");
        if (*flag == 'c')
            return at;
        if (*flag == 'm')
            return flag + 1 + strspn(flag + 1, " ");
        // Skips the value of the option.
        if (flag[0] && flag[0] != ' ' && flag[1] == ' ')
            at = next_word(at);
        at = next_word(at);
    }
    return at;
}

// Writes the command line, with the script or module first and the interpreter
// at the end.
static void tell(char *text, size_t size, const struct ChooserRow *row)
{
    const char *command = row->served.command;
    const char *name = short_command(command), *script = "";
    if (strncmp(name, "python", 6) == 0)
        script = script_of(command);
    // Otherwise all programs that run under Ocular would look alike.
    if (strncmp(short_command(script), "ocular -", 8) == 0)
        script = script_of(script);
    if (*script)
        name = *script == '-' ? script : short_command(script);
    int first = (int)strcspn(name, " ");
    int program = *script ? (int)strcspn(command, " ") : 0;
    char role[40] = "";
    if (row->workers)
        snprintf(role, sizeof role, " [master of %u]", row->workers);
    else if (row->role)
        snprintf(role, sizeof role, " [%s]", row->role);
    snprintf(text, size, "%.*s%s%s%s%.*s%s", first, name, role, name + first,
             program ? "  (" : "", program, command, program ? ")" : "");
}

static void draw_command(struct Canvas *canvas, struct Box box,
                         const struct ListRows *rows, long index)
{
    const struct Chooser *chooser = rows->source;
    const struct ChooserRow *row = &chooser->rows[index];
    char text[2 * sizeof row->served.command + 32];
    tell(text, sizeof text, row);
    // Indents the command, but leaves COMMAND_LEAST cells for it.
    if (row->depth) {
        int depth = (box.width - COMMAND_LEAST) / 2;
        depth = depth < 1 ? 1 : depth;
        int indent = 2 * (row->depth < depth ? row->depth : depth);
        box.x += indent;
        box.width -= indent;
        Canvas_put(canvas, box.y, box.x - 2, box.x + box.width, STYLE_FAINT,
                   "└ ");
    }
    Canvas_fit(canvas, box, row->other ? STYLE_FAINT : STYLE_STRONG, CUT_END,
               text);
}

enum { LIST_PID, LIST_USER, LIST_CPU, LIST_AGE, LIST_COMMAND, LIST_TAKES };

static void write(struct ListCell *cell, const struct ListRows *rows,
                  long index, int column)
{
    const struct Chooser *chooser = rows->source;
    const struct ChooserRow *row = &chooser->rows[index];
    enum Style style = row->other ? STYLE_FAINT : STYLE_PLAIN;
    char text[NUMBER_MAX];
    if (column == LIST_PID) {
        snprintf(text, sizeof text, "%ld", (long)row->served.pid);
        ListCell_put(cell, style, text);
    } else if (column == LIST_USER) {
        ListCell_put(cell, style, row->user);
    } else if (column == LIST_CPU) {
        ListCell_put(cell, style,
                     isfinite(row->cores) ? Number_percent(text, row->cores)
                                          : "");
    } else if (column == LIST_TAKES) {
        ListCell_put(cell, style, *row->takes ? row->takes : "serves");
    } else if (isfinite(row->age_s)) {
        ListCell_put(cell, style, Number_age(text, row->age_s));
    }
}

static struct ListRows rows_of(const struct Chooser *chooser)
{
    static const struct ListColumn columns[] = {
        [LIST_PID] = LIST_COLUMN("PID", 8, 2),
        [LIST_USER] = LIST_COLUMN("USER", 12, 2, .importance = 2, .room = 16,
                                  .left = true),
        [LIST_CPU] = LIST_COLUMN("CPU", 6, 2, .importance = 3, .room = 16),
        [LIST_AGE] = LIST_COLUMN("AGE", 5, 2, .importance = 1, .room = 30),
        [LIST_COMMAND] = LIST_COLUMN("COMMAND", 16, 2, .grows = 100,
                                     .left = true, .draw = draw_command),
        [LIST_TAKES] = LIST_COLUMN("ATTACHING", 28, 2, .left = true),
    };
    struct ListRows rows = Chooser_rows(chooser);
    rows.columns = columns;
    rows.column_count = sizeof columns / sizeof *columns;
    rows.write = write;
    if (!chooser->users)
        rows.absent |= 1 << LIST_USER;
    if (chooser->count == chooser->serving)
        rows.absent |= 1 << LIST_TAKES;
    return rows;
}

// --- The lines above and below the list

static void draw_title(const struct Chooser *chooser, struct Canvas *canvas)
{
    long others = chooser->count - chooser->serving;
    int width = canvas->width;
    char count[64];
    Canvas_put(canvas, 0, 1, width, STYLE_ACCENT, "ocular-top");
    Canvas_put(canvas, 0, 13, width - 1, STYLE_FAINT, "which process?");
    if (others)
        snprintf(count, sizeof count, "%ld serve, %ld do not", chooser->serving,
                 others);
    else
        snprintf(count, sizeof count, "%ld serve", chooser->count);
    if (chooser->count > 1)
        Canvas_fit_right(canvas, (struct Box){0, 30, width - 31}, STYLE_FAINT,
                         count);
    if (others && chooser->serving)
        Canvas_put(canvas, 1, 1, width - 1, STYLE_FAINT,
                   "Enter watches; those that do not serve are attached to.");
    else if (others)
        Canvas_put(canvas, 1, 1, width - 1, STYLE_FAINT,
                   "No process serves just now. Enter attaches to one.");
}

static void draw_nothing(struct Canvas *canvas)
{
    static const char *const lines[] = {
        "No process serves just now, and you have no Python process.",
        "One that begins comes up here:",
        "",
        "ocular --serve script.py    a program that is traced",
        "ocular.serve()              in one: at no cost until you look",
        "sudo ocular-top             lists those of all users",
    };
    for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++)
        Canvas_put(canvas, CHOOSER_FIRST_LINE + 1 + i, 2, canvas->width - 1,
                   STYLE_FAINT, lines[i]);
}

// Draws a message on up to MESSAGE_MOST lines. Returns the number of lines.
static int draw_message(struct Canvas *canvas, const char *text)
{
    char lines[MESSAGE_MOST][MESSAGE_SIZE];
    int width = canvas->width - 2, count = 0;
    while (*text && count < MESSAGE_MOST) {
        size_t size = Text_line(text, width);
        if (count == MESSAGE_MOST - 1)
            // Canvas_fit cuts the last line if the text is too long.
            size = strlen(text);
        snprintf(lines[count++], MESSAGE_SIZE, "%.*s", (int)size, text);
        text += size;
        text += *text == ' ';
    }
    for (int i = 0; i < count; i++) {
        int y = canvas->height - count + i;
        Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_LABEL);
        Canvas_fit(canvas, (struct Box){y, 1, width}, STYLE_ALERT, CUT_END,
                   lines[i]);
    }
    return count;
}

static int draw_key(struct Canvas *canvas, int x, const char *key,
                    const char *label)
{
    int y = canvas->height - 1, width = canvas->width;
    x = Canvas_put(canvas, y, x, width, STYLE_KEY, key);
    return Canvas_put(canvas, y, x + 1, width, STYLE_LABEL, label) + 2;
}

// Draws the lines at the bottom of the screen. Returns their number.
static int draw_bottom(const struct Chooser *chooser, struct Canvas *canvas)
{
    const struct ChooserRow *row = Chooser_selected(chooser);
    int width = canvas->width, y = canvas->height - 1, x = 1;
    char question[192];
    Canvas_paint(canvas, (struct Box){y, 0, width}, STYLE_LABEL);
    if (chooser->help) {
        draw_key(canvas, x, "Esc", "Back");
    } else if (chooser->asked) {
        snprintf(question, sizeof question,
                 "%sAttach to process %ld, until you leave? y/n ",
                 chooser->may_kill
                     ? "Its seccomp filter, which only root may read, may "
                       "kill it for a system call of Ocular's. "
                     : "",
                 (long)chooser->asked);
        if (chooser->may_kill)
            return draw_message(canvas, question);
        Canvas_paint(canvas, (struct Box){y, 0, width}, STYLE_PROMPT);
        Canvas_put(canvas, y, 1, width - 1, STYLE_PROMPT, question);
    } else if (*chooser->message) {
        return draw_message(canvas, chooser->message);
    } else {
        if (row)
            x = draw_key(canvas, x, "Enter",
                         row->other     ? "Attach"
                         : row->workers ? "Watch all"
                                        : "Watch");
        if (Chooser_may_be_alone(chooser))
            x = draw_key(canvas, x, "o", "Only this process");
        x = draw_key(canvas, x, "F1", "Help");
        if (chooser->back)
            x = draw_key(canvas, x, "Esc", "Back");
        draw_key(canvas, x, "q", "Quit");
    }
    return 1;
}

void Chooser_draw(struct Chooser *chooser, struct Canvas *canvas)
{
    int width = canvas->width;
    Canvas_clear(canvas);
    chooser->too_small =
        width < LAYOUT_MIN_WIDTH || canvas->height < LAYOUT_MIN_HEIGHT;
    if (chooser->too_small) {
        Layout_draw_too_small(canvas);
        return;
    }
    if (chooser->help) {
        ViewHelp_draw_page(canvas, VIEWS, &chooser->help_top, CAN_REACH, NULL);
        draw_bottom(chooser, canvas);
        return;
    }
    draw_title(chooser, canvas);
    int lines =
        canvas->height - CHOOSER_FIRST_LINE - draw_bottom(chooser, canvas);
    struct ListRows rows = rows_of(chooser);
    List_draw(&chooser->list, &rows, canvas,
              (struct Box){CHOOSER_FIRST_LINE - 1, 0, width}, lines);
    if (!chooser->count)
        draw_nothing(canvas);
}

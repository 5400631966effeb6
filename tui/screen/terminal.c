// SPDX-License-Identifier: MIT
// Signals are read from a signalfd. No signal handler therefore interrupts
// other code, except after a crash (crash.h).
#define _GNU_SOURCE 1
#define NCURSES_WIDECHAR 1
#include "tui/screen/terminal.h"

#include "tui/screen/crash.h"
#include "tui/screen/key.h"
#include "tui/screen/palette.h"
#include "tui/text/text.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#define ESCAPE_MS 25   // Time that curses waits for bytes after an Esc.
#define MOUSE_EVENTS 8 // Maximum number of mouse events that curses queues.

struct Terminal {
    SCREEN *screen;
    FILE *in;
    bool own_in; // True if Terminal_open has opened `in`.
    int colours; // Number of colours (0, 8 or 256).
    int signals; // signalfd
    sigset_t old_mask;
};

static const int watched[] = {SIGHUP,   SIGINT,  SIGTERM, SIGQUIT,
                              SIGWINCH, SIGTSTP, SIGCONT};
static bool has_string(const char *capability)
{
    char *string = tigetstr(capability);
    return string && string != (char *)-1;
}

static void save_string(const char *capability)
{
    if (has_string(capability))
        tputs(tigetstr(capability), 1, Crash_add);
}

// Collects the strings that restore the terminal after a crash.
static void save_for_crash(int fd)
{
    Crash_begin(fd);
    save_string("sgr0");
    save_string("rmkx");
    // terminfo has no string that switches the mouse off, but all terminals
    // with a mouse understand xterm's string.
    if (has_string("kmous"))
        for (const char *byte = "\033[?1006;1000l"; *byte; byte++)
            Crash_add(*byte);
    save_string("cnorm");
    save_string("rmcup");
}

// --- Which terminal

// Folders in which usual distributions have the descriptions of terminals. The
// curses library in a wheel comes from another system and may not search these
// folders.
#define FOLDERS                                                                \
    "/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo:"       \
    "/usr/local/share/terminfo"

static void search_everywhere(void)
{
    const char *own = getenv("TERMINFO_DIRS");
    char all[4096];

    if (own && strstr(own, FOLDERS))
        return;
    // The empty entry before the first colon stands for the library's own
    // folders.
    if (snprintf(all, sizeof all, "%s:%s", own ? own : "", FOLDERS) <
        (int)sizeof all)
        setenv("TERMINFO_DIRS", all, 1);
}

// Returns true if a description of this terminal exists.
static bool is_known(const char *name, int fd)
{
    int status;
    if (!name || !*name)
        return false;
    if (setupterm(name, fd, &status) == OK)
        return true;
    search_everywhere();
    return setupterm(name, fd, &status) == OK;
}

static bool can_move(void)
{
    return has_string("cup");
}

// Returns the terminal name to use, or NULL with the reason in `why`. If the
// database does not have TERM, the terminal is usually newer than the database
// and understands xterm's strings.
static const char *choose_name(int fd, char *why, size_t why_size)
{
    static const char *const likely[] = {"xterm-256color", "xterm", "linux",
                                         "ansi", "vt100"};
    const char *name = getenv("TERM");
    if (name && (strcmp(name, "dumb") == 0 || is_known(name, fd))) {
        if (strcmp(name, "dumb") != 0 && can_move())
            return name;
        snprintf(why, why_size,
                 "the terminal (TERM=%.40s) cannot place its cursor: set TERM "
                 "to what it really is, or use --batch",
                 name);
        return NULL;
    }
    for (size_t i = 0; i < sizeof likely / sizeof likely[0]; i++)
        if (is_known(likely[i], fd) && can_move())
            return likely[i];
    snprintf(why, why_size,
             "no description of any terminal is installed (terminfo, often "
             "in a package ncurses-base): install it, or use --batch");
    return NULL;
}

// --- Open and close

static FILE *open_input(bool *own)
{
    *own = false;
    if (isatty(STDIN_FILENO))
        return stdin;
    *own = true;
    return fopen("/dev/tty", "re");
}

static void block_signals(struct Terminal *terminal)
{
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaddset(&mask, watched[i]);
    sigprocmask(SIG_BLOCK, &mask, &terminal->old_mask);
    terminal->signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void start_colours(struct Terminal *terminal, bool mono)
{
    if (mono || !has_colors() || start_color() == ERR || COLOR_PAIRS < 64)
        return;
    terminal->colours = COLORS >= 256 ? 256 : 8;
    bool own = use_default_colors() == OK;
    for (int style = 0; style < 2 * STYLE_COUNT; style++) {
        uint8_t which = (uint8_t)(style % STYLE_COUNT |
                                  (style < STYLE_COUNT ? 0 : STYLE_SELECTED));
        struct Paint paint = Palette_paint(which, terminal->colours);
        if (!own && paint.foreground < 0)
            paint.foreground = COLOR_WHITE;
        if (!own && paint.background < 0)
            paint.background = COLOR_BLACK;
        init_pair((short)(style + 1), paint.foreground, paint.background);
    }
}

// ncurses reads another event and blocks if a mouse event is not in the mask.
// The mask therefore also contains the release after a click, and the other
// buttons.
static const mmask_t asked_for =
    BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON2_PRESSED | BUTTON2_RELEASED |
    BUTTON3_PRESSED | BUTTON3_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED;

static void prepare(struct Terminal *terminal, struct TerminalRequest request)
{
    set_term(terminal->screen);
    // curses must not handle SIGTSTP, because SIGTSTP is read from the
    // signalfd.
    signal(SIGTSTP, SIG_DFL);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    leaveok(stdscr, TRUE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    if (!request.no_mouse) {
        mousemask(asked_for, NULL);
        mouseinterval(0); // Do not wait for a double click.
    }
    start_colours(terminal, request.mono);
}

int Terminal_open(struct Terminal **out, struct TerminalRequest request,
                  char *why, size_t why_size)
{
    struct Terminal *terminal = calloc(1, sizeof *terminal);
    *out = NULL;
    if (!terminal)
        return -ENOMEM;
    const char *name = choose_name(STDOUT_FILENO, why, why_size);
    if (!name) {
        free(terminal);
        return -ENOTSUP;
    }
    terminal->in = open_input(&terminal->own_in);
    if (!terminal->in || !Crash_save_mode(fileno(terminal->in))) {
        snprintf(why, why_size,
                 "there is no keyboard (stdin is no terminal): use --batch");
        if (terminal->in && terminal->own_in)
            fclose(terminal->in);
        free(terminal);
        return -ENOTTY;
    }
    save_for_crash(STDOUT_FILENO);
    block_signals(terminal);
    Crash_guard();
    terminal->screen = newterm(name, stdout, terminal->in);
    if (!terminal->screen || terminal->signals < 0) {
        snprintf(why, why_size,
                 "the terminal (TERM=%.40s) cannot be used: "
                 "use --batch",
                 name);
        Terminal_close(terminal);
        return -ENOTSUP;
    }
    prepare(terminal, request);
    *out = terminal;
    return 0;
}

void Terminal_close(struct Terminal *terminal)
{
    if (!terminal)
        return;
    if (terminal->screen) {
        endwin();
        delscreen(terminal->screen);
    }
    Crash_unguard();
    if (terminal->signals >= 0)
        close(terminal->signals);
    sigprocmask(SIG_SETMASK, &terminal->old_mask, NULL);
    if (terminal->own_in)
        fclose(terminal->in);
    free(terminal);
}

// --- Draw

void Terminal_size(const struct Terminal *terminal, int *width, int *height)
{
    (void)terminal;
    getmaxyx(stdscr, *height, *width);
}

static void draw_cell(const struct Terminal *terminal, int y, int x,
                      const struct Cell *cell)
{
    static const attr_t attributes[] = {A_BOLD, A_DIM, A_REVERSE, A_UNDERLINE};
    wchar_t text[2 + TEXT_MARKS] = {(wchar_t)cell->code};
    uint8_t plain = cell->style & (uint8_t)~STYLE_SELECTED;
    struct Paint paint = Palette_paint(cell->style, terminal->colours);
    attr_t attribute = A_NORMAL;
    short pair = 0;
    cchar_t complex;
    for (int i = 0; i < TEXT_MARKS; i++)
        text[1 + i] = (wchar_t)cell->marks[i];
    for (int i = 0; i < 4; i++)
        if (paint.attributes & 1u << i)
            attribute |= attributes[i];
    if (terminal->colours)
        pair = (short)(1 + plain +
                       (cell->style & STYLE_SELECTED ? STYLE_COUNT : 0));
    if (setcchar(&complex, text, attribute, pair, NULL) == OK)
        mvadd_wch(y, x, &complex);
}

void Terminal_draw(struct Terminal *terminal, const struct Canvas *canvas)
{
    int width, height;
    Terminal_size(terminal, &width, &height);
    erase();
    for (int y = 0; y < canvas->height && y < height; y++)
        for (int x = 0; x < canvas->width && x < width; x++) {
            const struct Cell *cell = Canvas_cell(canvas, y, x);
            if (cell->width)
                draw_cell(terminal, y, x, cell);
        }
    refresh();
}

void Terminal_distrust(struct Terminal *terminal)
{
    (void)terminal;
    clearok(curscr, TRUE);
}

// --- Wait

static void fit_window(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row &&
        size.ws_col)
        resizeterm(size.ws_row, size.ws_col);
}

// Stops this process after Ctrl-Z. Until SIGCONT comes, the shell uses the
// terminal.
static void stop(struct Terminal *terminal)
{
    sigset_t mask;
    def_prog_mode();
    endwin();
    Crash_forget();
    sigemptyset(&mask);
    sigaddset(&mask, SIGTSTP);
    sigaddset(&mask, SIGCONT);
    raise(SIGTSTP);
    // The viewer's process stops here until SIGCONT comes.
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    set_term(terminal->screen);
}

// Sets the terminal up again after this process was stopped.
static void resume(void)
{
    save_for_crash(STDOUT_FILENO);
    reset_prog_mode();
    fit_window();
    clearok(curscr, TRUE);
    curs_set(0);
    refresh();
}

static int take_signals(struct Terminal *terminal)
{
    struct signalfd_siginfo info;
    int events = 0;
    while (read(terminal->signals, &info, sizeof info) == sizeof info) {
        switch (info.ssi_signo) {
        case SIGTSTP:
            stop(terminal);
            resume();
            events |= TERMINAL_RESIZED;
            break;
        case SIGCONT:
            resume();
            events |= TERMINAL_RESIZED;
            break;
        case SIGWINCH:
            fit_window();
            // Everything is drawn again, even if the terminal has its old size.
            // The terminal may have lost cells because it was smaller in
            // between.
            clearok(curscr, TRUE);
            events |= TERMINAL_RESIZED;
            break;
        default:
            events |= TERMINAL_QUIT;
        }
    }
    return events;
}

int Terminal_wait(struct Terminal *terminal, int other_fd, int timeout_ms)
{
    struct pollfd waiting[] = {
        {.fd = fileno(terminal->in), .events = POLLIN},
        {.fd = terminal->signals, .events = POLLIN},
        {.fd = other_fd, .events = POLLIN},
    };
    int events = 0;
    if (poll(waiting, 3, timeout_ms) <= 0)
        return 0;
    // If the terminal is gone, poll() reports POLLHUP together with POLLIN.
    if (waiting[0].revents & ~POLLIN)
        events |= TERMINAL_QUIT;
    else if (waiting[0].revents)
        events |= TERMINAL_KEYS;
    if (waiting[1].revents)
        events |= take_signals(terminal);
    if (waiting[2].revents)
        events |= TERMINAL_OTHER;
    return events;
}

// --- Keys

static uint32_t mouse_key(const MEVENT *event)
{
    if (event->bstate & BUTTON4_PRESSED)
        return PRESS_WHEEL_UP;
    if (event->bstate & BUTTON5_PRESSED)
        return PRESS_WHEEL_DOWN;
    return event->bstate & BUTTON1_PRESSED ? Key_click(event->x, event->y)
                                           : PRESS_NONE;
}

// Returns the newest queued mouse event with a meaning, or PRESS_NONE.
static uint32_t mouse(void)
{
    uint32_t key = PRESS_NONE;
    MEVENT event;

    for (int n = 0; n < MOUSE_EVENTS && key == PRESS_NONE; n++)
        if (getmouse(&event) == OK)
            key = mouse_key(&event);
    return key;
}

static uint32_t special(wint_t code)
{
    static const struct {
        wint_t code;
        uint32_t key;
    } table[] = {
        {KEY_UP, PRESS_UP},         {KEY_DOWN, PRESS_DOWN},
        {KEY_LEFT, PRESS_LEFT},     {KEY_RIGHT, PRESS_RIGHT},
        {KEY_PPAGE, PRESS_PAGE_UP}, {KEY_NPAGE, PRESS_PAGE_DOWN},
        {KEY_HOME, PRESS_HOME},     {KEY_END, PRESS_END},
        {KEY_DC, PRESS_DELETE},     {KEY_BACKSPACE, PRESS_BACKSPACE},
        {KEY_ENTER, PRESS_ENTER},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return table[i].key;
    if (code == KEY_MOUSE)
        return mouse();
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return PRESS_F1 + (uint32_t)(code - KEY_F(1));
    return PRESS_NONE;
}

uint32_t Terminal_key(struct Terminal *terminal)
{
    wint_t code;
    int result;
    (void)terminal;
    while ((result = get_wch(&code)) != ERR) {
        uint32_t key = result == KEY_CODE_YES ? special(code) : (uint32_t)code;
        if (key == '\n')
            key = PRESS_ENTER;
        if (key)
            return key;
    }
    return PRESS_NONE;
}

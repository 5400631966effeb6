// SPDX-License-Identifier: MIT
// Tests every view at every size of the screen, and with names of any kind.
// Nothing harmful reaches the screen, no text covers another text, and a table
// has rows. If the view does not fit, a notice says so. All of this is also
// tested while a prompt is open, and in the list of processes. With SIZES=all
// the test uses every size, and not only some sizes.
#include "tests/tui/stage.h"
#include "tui/app/chooser_draw.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/views/navigation.h"
#include "tui/views/view_table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

#include "tests/tui/picture.h"

#include "tests/between.h"
#include "tests/sanitizers.h"

// Path of a source file with lines that could harm a terminal.
static char source_path[] = "/tmp/ocular-sizes-XXXXXX";

static void set_up(bool ascii, struct SampleSpec request)
{
    Stage_init(150, 40);
    stage.ui.canvas.ascii = ascii;
    for (request.tick = 0; request.tick < 4; request.tick++)
        Stage_push(request);
    Frame_draw(&stage.ui);
}

// Checks that a view shows something. An empty view would pass all other
// checks.
static void check_is_fed(bool sampled)
{
    const struct Ui *ui = &stage.ui;
    if (ui->view == VIEW_ANNOTATE)
        assert_true(ui->annotate.annotation.count > 8);
    if (ui->view == VIEW_CALLERS && sampled)
        assert_true(ui->callers.tree.count > 4);
    if (ui->view == VIEW_FLAME && sampled)
        assert_true(ui->flame.tree.count > 8);
}

static void check_cells(const struct Canvas *canvas)
{
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            const struct Cell *cell = Canvas_cell(canvas, y, x);
            // Each wide glyph has its left half and its right half.
            assert_true(cell->width == 1 ||
                        (cell->width == 2 && x + 1 < canvas->width &&
                         cell[1].width == 0) ||
                        (cell->width == 0 && x && cell[-1].width == 2));
            if (!cell->width)
                continue;
            assert_false(Utf8_is_harmful(cell->code));
            assert_true(!canvas->ascii ||
                        (cell->code >= 0x20 && cell->code < 0x7F));
        }
}

static bool is_blank(const struct Canvas *canvas, int y)
{
    for (int x = 0; x < canvas->width; x++)
        if (Canvas_cell(canvas, y, x)->code != ' ')
            return false;
    return true;
}

static void complain(const struct Ui *ui, const char *what)
{
    fail_msg("%s, %dx%d: %s\n%s", Navigation_front(ui)->name, ui->canvas.width,
             ui->canvas.height, what, picture_of(&ui->canvas));
}

static void check_screen(int width, int height)
{
    struct Ui *ui = &stage.ui;
    const struct Layout *layout = &ui->layout;
    assert_int_equal(Canvas_resize(&ui->canvas, width, height), 0);
    Frame_draw(ui);
    check_cells(&ui->canvas);
    assert_int_equal(layout->too_small, width < 60 || height < 12);
    if (ui->canvas.overdrawn)
        complain(ui, "something is drawn over something else");
    if (layout->too_small)
        return;
    if (is_blank(&ui->canvas, 0) || is_blank(&ui->canvas, height - 1))
        complain(ui, "the first or last line is blank");
    // If a text replaces the rows, it begins in the second line.
    if (ui->view != VIEW_HELP && is_blank(&ui->canvas, layout->body_y) &&
        is_blank(&ui->canvas, layout->body_y + 1))
        complain(ui, "the table is empty");
    for (int i = 0; i < ui->lists[ui->view].column_count; i++)
        if (ui->lists[ui->view].columns[i].width < 5)
            complain(ui, "a column has no room");
}

// Returns the size to test after this one, which is the next number if `every`
// is true. Otherwise the steps are small where columns are left out, and large
// under sanitizers, which make the test ten times slower.
static int next(int size, int step, bool every)
{
    if (UNDER_ASAN)
        step *= 3;
    return every ? size + 1 : size + step;
}

static void check_every_size(const char *keys, bool ascii,
                             struct SampleSpec request)
{
    bool every = getenv("SIZES") && !strcmp(getenv("SIZES"), "all");
    uint32_t key;
    set_up(ascii, request);
    while ((key = Key_parse(&keys)) != 0) {
        Keyboard_press(&stage.ui, key);
        Stage_deliver(request, source_path);
        Frame_draw(&stage.ui);
    }
    check_is_fed(!request.no_sampler);
    for (int width = 60; width <= 400;
         width = next(width, width < 160 ? 11 : 61, every))
        for (int height = 12; height <= 120;
             height = next(height, height < 40 ? 7 : 41, every))
            check_screen(width, height);
    for (int size = 0; size < 60; size += 7)
        check_screen(size, 1 + size / 5);
}

// These keys open every view, with its options off and on. The first UNSAMPLED
// entries are also tested with a process without a sampler.
static const char *const walks[] = {
    "",
    "o",
    "o<Tab>",
    "tjj",
    "t",
    "tj<Enter>",
    "<Enter>",
    "jj<Enter><End>",
    "c",
    "jc<End><Right><Right>",
    "jc<Down><Enter>",
    "f",
    "fjjj<Enter>",
    "?",
    "b",
    "bo",
    "bt",
    "bc",
    "b<Enter>",
    "rujjj",
    "jjj/x",
    "jj\\e",
    "e",
    "tE",
    "B",
    ("/\xe6\x95\xb0\xe6\x8d\xae\xd7\xa9\xd7\x9c\xe2\x80\xaeZ\xcc\x81\xf0\x9f"
     "\x91"
     "\xa8"),
    "<Enter>/\xe2\x80\x8b\xcc\x81\xe6\x95\xb0",
    "\\\xe6\x95\xb0\xe6\x8d\xae",
};
#define UNSAMPLED 13 // this many `walks` are tested without a sampler, too

TEST(test_every_view)
{
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++)
        check_every_size(walks[i], i % 3 == 2,
                         (struct SampleSpec){.extra = 150});
    for (int id = 1; id < VIEW_COUNT; id++) {
        char name[KEY_NAME_MAX], keys[KEY_NAME_MAX + 8];
        Key_name(name, VIEWS[id]->opens.keys[0]);
        snprintf(keys, sizeof keys, strlen(name) > 1 ? "<%s>" : "%s", name);
        check_every_size(keys, id % 2, (struct SampleSpec){.extra = 3});
    }
}

TEST(test_hostile_names)
{
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++)
        check_every_size(walks[i], i % 4 == 3,
                         (struct SampleSpec){.hostile = 1});
}

TEST(test_little_to_show)
{
    for (size_t i = 0; i < UNSAMPLED; i++)
        check_every_size(
            walks[i], false,
            (struct SampleSpec){.no_sampler = 1, .no_overhead = 1});
}

TEST(test_the_list_of_processes)
{
    enum { COUNT = 40 };
    struct Chooser chooser = {.count = COUNT, .serving = COUNT / 2};
    struct Canvas canvas;
    chooser.rows = calloc(COUNT, sizeof *chooser.rows);
    assert_non_null(chooser.rows);
    for (int i = 0; i < COUNT; i++) {
        chooser.rows[i].served.pid = i % 2 ? 4194304 : i + 1;
        chooser.rows[i].other = i >= COUNT / 2;
        chooser.rows[i].depth = chooser.rows[i].other ? 0 : i % 17;
        chooser.rows[i].age_s = i * i * 1e3;
        snprintf(chooser.rows[i].takes, sizeof chooser.rows[i].takes,
                 "3.13.10: held by a debugger");
        snprintf(chooser.rows[i].served.command,
                 sizeof chooser.rows[i].served.command, "%.250s",
                 Sample_hostile((unsigned)i));
    }
    for (int ascii = 0; ascii < 2; ascii++) {
        Canvas_init(&canvas, ascii);
        for (int width = 1; width <= 400; width += width < 160 ? 3 : 41)
            for (int height = 1; height <= 120;
                 height += height < 40 ? 3 : 27) {
                assert_int_equal(Canvas_resize(&canvas, width, height), 0);
                Chooser_key(&chooser, (width + height) % 3 ? 'j' : PRESS_END);
                Chooser_draw(&chooser, &canvas);
                check_cells(&canvas);
                if (canvas.overdrawn && width >= 60 && height >= 12)
                    fail_msg("%dx%d: something is drawn over", width, height);
                if (width >= 60 && height >= 12)
                    assert_false(is_blank(&canvas, 3) ||
                                 is_blank(&canvas, height - 1));
            }
        Canvas_release(&canvas);
    }
    Chooser_release(&chooser);
}

TEST(test_resizing)
{
    unsigned random = 5;
    set_up(false, (struct SampleSpec){.extra = 300});
    for (int round = 0; round < 400; round++) {
        random = random * 1103515245 + 12345;
        int width = 1 + (int)(random >> 8) % 400;
        int height = 1 + (int)(random >> 17) % 120;
        static const uint32_t keys[] = {
            'j', PRESS_END,    'k', PRESS_PAGE_DOWN, 'o',
            't', PRESS_ESCAPE, 'c', PRESS_ENTER,     'f'};
        check_screen(width, height);
        if (stage.ui.layout.too_small)
            continue;
        Keyboard_press(&stage.ui,
                       keys[(random >> 24) % (sizeof keys / sizeof *keys)]);
        Stage_deliver((struct SampleSpec){0}, source_path);
        Frame_draw(&stage.ui);
        const struct List *list = &stage.ui.lists[stage.ui.view];
        if (list->count)
            assert_between(list->selected, list->top,
                           list->top + list->height - 1);
    }
}

int main(void)
{
    int fd = mkstemp(source_path);
    for (unsigned line = 0; fd >= 0 && line < 20; line++)
        dprintf(fd, "%s\n", Sample_hostile(line));
    close(fd);
    int failed = Unit_run(NULL, NULL);
    unlink(source_path);
    return failed;
}

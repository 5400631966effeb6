// SPDX-License-Identifier: MIT
// Tests how the annotate view shows a made-up listing at every size, hostile
// names and sources, and a function whose code has not come yet.
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/app/updates.h"
#include "tui/screen/gauge.h"
#include "tui/views/view_annotate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

static char source_path[] = "/tmp/ocular-view-XXXXXX";
static const char source_text[] =
    "import json\n"
    "\n"
    "class A:\n"
    "    def run(self, rows):\n"
    "\t    for row in rows:\n"
    "        \tjson.loads(row)\n"
    "        # \xe2\x80\xaetxet\x1b[2J \x01\n"
    "        return \"\xe4\xb8\xad\xe6\x96\x87\"\n";

static void set_up(int width, int height)
{
    Stage_init(width, height);
    stage.feed.pid = getpid();
    Stage_push((struct SampleSpec){.tick = 1});
    Frame_draw(&stage.ui);
}

// Answers the view's request for code with this listing.
static void answer(struct Listing *listing)
{
    Listing_free(stage.feed.listing.newest);
    stage.feed.listing.newest = listing;
    stage.feed.listing.number = 0;
    Updates_poll(&stage.ui);
    Frame_draw(&stage.ui);
}

static void open_view(int width, int height, const char *file)
{
    set_up(width, height);
    Stage_press(PRESS_ENTER);
    assert_int_equal(stage.ui.view, VIEW_ANNOTATE);
    answer(Sample_listing(stage.ui.annotate.id, file));
}

// Fails unless a line of the screen has all of these texts in this order.
static void expect_line(const char *const *parts)
{
    char *text = strdup(Stage_text()), *saved, *line;
    for (line = strtok_r(text, "\n", &saved); line;
         line = strtok_r(NULL, "\n", &saved)) {
        const char *at = line;
        int i = 0;
        while (parts[i] && (at = strstr(at, parts[i])) != NULL)
            at += strlen(parts[i++]);
        if (!parts[i])
            break;
    }
    free(text);
    if (!line)
        fail_msg("no line with \"%s\" in:\n%s", parts[0], Stage_text());
}

#define EXPECT(...) expect_line((const char *const[]){__VA_ARGS__, NULL})

// Counts the cells of the bar on the line that contains `text`, and sets *style
// to the bar's style.
static int bar_of(const char *text, uint8_t *style)
{
    const struct Canvas *canvas = &stage.ui.canvas;
    const char *frame = Stage_text();
    int y = 0, cells = 0;
    const char *found = strstr(frame, text);
    assert_non_null(found);
    for (const char *at = frame; at < found; at++)
        y += *at == '\n';
    for (int x = 0; x < canvas->width; x++) {
        const struct Cell *cell = Canvas_cell(canvas, y, x);
        if (cell->code < 0x2588 || cell->code > 0x258F)
            continue;
        *style = cell->style & (uint8_t)~STYLE_SELECTED;
        cells++;
    }
    return cells;
}

// A bar shows an instruction's share of the samples. Without samples, a faint
// bar shows its cycles, unless a block has equal cycles.
TEST(test_bars)
{
    uint8_t style = STYLE_PLAIN;
    open_view(150, 40, source_path);
    // The bar stands for 96 %.
    assert_int_equal(bar_of("json.loads(row)", &style), 8);
    assert_int_equal(bar_of("61% in C: json.loads", &style), 7);
    assert_int_equal(style, Gauge_heat(.8));
    // The bar stands for 16 %.
    assert_int_equal(bar_of("BINARY_OP", &style), 2);
    assert_int_equal(style, Gauge_heat(.16));
    assert_int_equal(bar_of("LOAD_FAST", &style), 0);
    open_view(150, 40, source_path);
    struct Listing *listing = Sample_listing(stage.ui.annotate.id, source_path);
    struct ListingRow *rows = (void *)(uintptr_t)listing->rows;
    struct ListingRow copy[16];
    memcpy(copy, rows, listing->row_count * sizeof *rows);
    for (size_t i = 0; i < listing->row_count; i++)
        copy[i].samples = copy[i].c_samples = NULL_U64;
    listing->rows = copy;
    answer(listing);
    assert_int_equal(bar_of("json.loads(row)", &style), 0);
    assert_int_equal(bar_of("BINARY_OP", &style), 8);
    assert_int_equal(style, STYLE_FAINT);
    assert_int_equal(bar_of("LOAD_FAST", &style), 4);
    assert_int_equal(style, STYLE_FAINT);
    listing = Sample_listing(stage.ui.annotate.id, source_path);
    for (size_t i = 0; i < listing->row_count; i++)
        copy[i].cycles = 20; // as in a single block
    listing->rows = copy;
    answer(listing);
    EXPECT("LOAD_FAST", "20");
    assert_int_equal(bar_of("LOAD_FAST", &style), 0);
}

static void fail_with(int error, const char *why)
{
    struct FeedListing *listing = &stage.feed.listing;
    listing->error = error;
    listing->number = 0;
    snprintf(listing->why, sizeof listing->why, "%s", why);
    Frame_draw(&stage.ui);
}

// An age on the screen says whether it is that of a task or of the newest hit.
TEST(test_ages)
{
    open_view(150, 40, source_path);
    struct StackPlace place = {stage.ui.annotate.id, "run", source_path, 6};
    struct TaskGroup group = {.coroutine = "run",
                              .task = "Task-7",
                              .oldest_s = .0062,
                              .chain = &place,
                              .chain_count = 1};
    struct Snapshot *now = (void *)(uintptr_t)stage.ui.model.snapshot;
    struct Function *function =
        (void *)(uintptr_t)Model_row_of(&stage.ui.model, stage.ui.annotate.id)
            ->now;
    now->tasks_groups = &group;
    now->tasks_group_count = 1;
    function->age_s = .5;
    Frame_draw(&stage.ui);
    EXPECT("json.loads(row)", "◂ Task-7 waits, age 6.2ms");
    EXPECT("last hit now");
    group.oldest_s = 75;
    function->age_s = 12;
    Frame_draw(&stage.ui);
    EXPECT("◂ Task-7 waits, age 75s");
    EXPECT("last hit 12s ago");
    now->tasks_group_count = 0;
    stage.ui.annotate.listing->waits_line = 6;
    stage.ui.annotate.listing->waits_s = 3;
    Frame_draw(&stage.ui);
    EXPECT("◂ a thread stays, age >3.0s");
}

// If the program makes a function again, the new function has another id, and
// the view shows the new function.
TEST(test_a_function_that_is_replaced)
{
    set_up(120, 30);
    Stage_press(PRESS_ENTER);
    struct AnnotateState *view = &stage.ui.annotate;
    const struct Row *row = Model_row_of(&stage.ui.model, view->id);
    struct Listing *listing = Sample_listing(view->id, source_path);
    const struct Row *other = NULL;
    for (size_t i = 0; i < stage.ui.model.rows.count; i++)
        if (stage.ui.model.rows.items[i].id > row->id && !other)
            other = &stage.ui.model.rows.items[i];
    if (!other)
        skip();
    listing->name = other->now->name;
    listing->file = other->now->file;
    listing->line = other->now->line;
    answer(listing);
    fail_with(ENOENT, "gone");
    uint64_t id = other->id;
    ANNOTATE_VIEW.want(&stage.ui);
    assert_true(view->id == id);
    assert_null(view->listing);
}

int main(void)
{
    int fd = mkstemp(source_path);
    if (fd < 0 || write(fd, source_text, sizeof source_text - 1) < 0)
        return 1;
    close(fd);
    int failed = Unit_run(NULL, NULL);
    unlink(source_path);
    return failed;
}

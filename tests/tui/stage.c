// SPDX-License-Identifier: MIT
#include "tests/tui/stage.h"

#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/views/navigation.h"
#include "tui/views/view_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/picture.h"

struct Stage stage;

void Stage_init(int width, int height)
{
    Listing_free(stage.feed.listing.newest);
    if (stage.ui.feed)
        Ui_release(&stage.ui);
    stage.feed = (struct Feed){.rate_s = 1, .heard_at = Feed_now()};
    Ui_init(&stage.ui, VIEWS, &stage.feed, false);
    assert_int_equal(Canvas_resize(&stage.ui.canvas, width, height), 0);
}

void Stage_push(struct SampleSpec request)
{
    assert_int_equal(Model_push(&stage.ui.model, Sample_new(request)), 0);
}

void Stage_deliver(struct SampleSpec request, const char *file)
{
    struct Ui *ui = &stage.ui;
    uint64_t id = stage.feed.listing.id;
    if (ui->view == VIEW_FLAME && !ui->flame.tree.count &&
        !request.no_sampler) {
        struct FlameTable *stacks = Sample_stacks(request);
        if (request.hostile)
            Sample_make_hostile_stacks(stacks);
        FlameState_take(&ui->flame, stacks);
    }
    if (ui->view != VIEW_ANNOTATE || !id || ui->annotate.listing)
        return;
    struct Listing *listing = Sample_listing(id, file);
    if (request.hostile)
        Sample_make_hostile(listing);
    stage.feed.listing.newest = listing;
    VIEWS[VIEW_ANNOTATE]->want(ui);
}

void Stage_press(uint32_t key)
{
    Keyboard_press(&stage.ui, key);
    Frame_draw(&stage.ui);
}

void Stage_type(const char *keys)
{
    for (; *keys; keys++)
        Stage_press((uint8_t)*keys);
}

const char *Stage_text(void)
{
    return picture_of(&stage.ui.canvas);
}

void Stage_expect(const char *words, bool there)
{
    Frame_draw(&stage.ui);
    const char *text = Stage_text();
    if ((strstr(text, words) != NULL) != there)
        fail_msg("%s: \"%s\" is%s there:\n%s",
                 Navigation_front(&stage.ui)->name, words, there ? " not" : "",
                 text);
}

// SPDX-License-Identifier: MIT
// Keys and clicks as numbers, and their names in the help and in --keys. Pure
// functions, any thread.
#ifndef OCULAR_TUI_SCREEN_KEY_H
#define OCULAR_TUI_SCREEN_KEY_H

#include <stdbool.h>
#include <stdint.h>

// A key is a code point, or one of these.
enum Key {
    PRESS_NONE = 0,
    PRESS_TAB = 9,
    PRESS_ENTER = 13,
    PRESS_ESCAPE = 27,
    PRESS_BACKSPACE = 127,
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_DELETE,
    PRESS_F1, // F2.. follow
    PRESS_F12 = PRESS_F1 + 11,
    PRESS_WHEEL_UP,
    PRESS_WHEEL_DOWN,
    PRESS_CLICK = 0x1000000, // plus the cell: Key_click
    PRESS_FRAMES =
        0x3000000 // plus a number; --keys only: waits for so many snapshots
};

#define KEY_PLACES 0x1000 // columns, and lines, that a click can name

uint32_t Key_click(int x, int y);
bool Key_is_click(uint32_t key);
int Key_x(uint32_t key);
int Key_y(uint32_t key);
int Key_frames(uint32_t key); // snapshots to wait for; 0: it is a key

#define KEY_NAME_MAX 20

// Writes "F6", "PgUp", "Space" or "a". Returns name.
const char *Key_name(char name[KEY_NAME_MAX], uint32_t key);
// Reads one key of a --keys text and moves *at past it. 0 at the end, or if
// there is no key; then *at stays. "jj<Enter>" are three keys, "<lt>" is "<",
// "<Click:9:4>" is the tenth column of the fifth line, "<Frame>" and
// "<Frame:3>" wait for snapshots.
uint32_t Key_parse(const char **at);

#endif

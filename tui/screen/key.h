// SPDX-License-Identifier: MIT
// Each key and each click has a number, and a name for the help and for --keys.
// The functions are pure, and any thread may call them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A key is a code point or one of these values.
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
    PRESS_F1, // PRESS_F2 and all further function keys follow.
    PRESS_F12 = PRESS_F1 + 11,
    PRESS_WHEEL_UP,
    PRESS_WHEEL_DOWN,
    PRESS_CLICK = 0x1000000, // Key_click adds the number of the clicked cell.
    // A key that waits for snapshots. PRESS_FRAMES is only for the option
    // --keys. The key's number is PRESS_FRAMES plus the number of snapshots.
    PRESS_FRAMES = 0x3000000
};

#define KEY_PLACES 0x1000 // Largest number of columns and of lines for clicks.

uint32_t Key_click(int x, int y);
bool Key_is_click(uint32_t key);
int Key_x(uint32_t key);
int Key_y(uint32_t key);
// Returns the number of snapshots to wait for, or 0 if `key` is an ordinary key
// or a click.
int Key_frames(uint32_t key);

#define KEY_NAME_MAX 20

// Writes the key's name, such as "F6", "PgUp", "Space" or "a". Returns `name`.
const char *Key_name(char name[KEY_NAME_MAX], uint32_t key);
// Reads one key of a --keys text and moves *at behind the key. At the end of
// the text, or if there is no valid key, returns 0 and does not move *at. For
// example, "jj<Enter>" are three keys, "<lt>" is the key "<", "<Click:9:4>" is
// a click on the tenth column of the fifth line, and "<Frame>" and "<Frame:3>"
// wait for snapshots.
uint32_t Key_parse(const char **at);

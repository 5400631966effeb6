// SPDX-License-Identifier: MIT
#include "tui/screen/key.h"

#include "tui/text/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CTRL(letter) ((letter)&0x1F)

uint32_t Key_click(int x, int y)
{
    if (x < 0 || y < 0 || x >= KEY_PLACES || y >= KEY_PLACES)
        return PRESS_NONE;
    return PRESS_CLICK + (uint32_t)y * KEY_PLACES + (uint32_t)x;
}

bool Key_is_click(uint32_t key)
{
    return key - PRESS_CLICK < KEY_PLACES * KEY_PLACES;
}

int Key_x(uint32_t key)
{
    return (int)((key - PRESS_CLICK) % KEY_PLACES);
}

int Key_y(uint32_t key)
{
    return (int)((key - PRESS_CLICK) / KEY_PLACES);
}

int Key_frames(uint32_t key)
{
    return key - PRESS_FRAMES < KEY_PLACES ? (int)(key - PRESS_FRAMES) : 0;
}

static const struct {
    uint32_t key;
    const char *name;
} names[] = {
    {' ', "Space"},
    {PRESS_TAB, "Tab"},
    {PRESS_ENTER, "Enter"},
    {PRESS_ESCAPE, "Esc"},
    {PRESS_BACKSPACE, "Backspace"},
    {PRESS_UP, "Up"},
    {PRESS_DOWN, "Down"},
    {PRESS_LEFT, "Left"},
    {PRESS_RIGHT, "Right"},
    {PRESS_PAGE_UP, "PgUp"},
    {PRESS_PAGE_DOWN, "PgDn"},
    {PRESS_HOME, "Home"},
    {PRESS_END, "End"},
    {PRESS_DELETE, "Del"},
    {PRESS_WHEEL_UP, "Wheel-up"},
    {PRESS_WHEEL_DOWN, "Wheel-down"},
    {PRESS_CLICK, "Click"},
    {PRESS_FRAMES + 1, "Frame"},
};

const char *Key_name(char name[KEY_NAME_MAX], uint32_t key)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].key == key)
            return strcpy(name, names[i].name);
    if (key >= PRESS_F1 && key <= PRESS_F12)
        snprintf(name, KEY_NAME_MAX, "F%u", (unsigned)(key - PRESS_F1 + 1));
    else if (key < 0x20)
        snprintf(name, KEY_NAME_MAX, "Ctrl-%c", (char)(key + 0x40));
    else
        name[Text_encode(name, key)] = 0;
    return name;
}

// Returns the key of a name without brackets, or 0 if no key has this name.
static uint32_t named(const char *name, size_t length)
{
    unsigned number, y;
    char text[KEY_NAME_MAX];
    if (length >= sizeof text)
        return 0;
    memcpy(text, name, length);
    text[length] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i].name, text) == 0)
            return names[i].key;
    if (strcasecmp(text, "lt") == 0)
        return '<';
    if ((text[0] == 'F' || text[0] == 'f') &&
        sscanf(text + 1, "%2u", &number) == 1 && number >= 1 && number <= 12)
        return PRESS_F1 + number - 1;
    if (strncasecmp(text, "Click:", 6) == 0 &&
        sscanf(text + 6, "%4u:%4u", &number, &y) == 2)
        return Key_click((int)number, (int)y);
    if (strncasecmp(text, "Frame:", 6) == 0 &&
        sscanf(text + 6, "%3u", &number) == 1 && number)
        return PRESS_FRAMES + number;
    if (strncasecmp(text, "Ctrl-", 5) == 0 && length == 6)
        return CTRL((unsigned char)text[5]);
    return 0;
}

uint32_t Key_parse(const char **at)
{
    if (**at != '<')
        return Utf8_decode(at);
    const char *end = strchr(*at, '>');
    uint32_t key = end ? named(*at + 1, (size_t)(end - *at - 1)) : 0;
    if (key)
        *at = end + 1;
    return key;
}

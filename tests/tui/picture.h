// SPDX-License-Identifier: MIT
// Gives the picture on a canvas as text, for tests of what is drawn. A file
// that includes this file must include cmocka.h first.
#pragma once

#include "tui/screen/canvas.h"

#include <string.h>

// The text is valid until the next call.
static inline const char *picture_of(const struct Canvas *canvas)
{
    static char text[1 << 20];
    struct Bytes out;

    Bytes_init(&out);
    Canvas_write(canvas, &out);
    assert_int_equal(out.error, 0);
    assert_true(out.size < sizeof text);
    memcpy(text, out.data, out.size);
    text[out.size] = 0;
    Bytes_release(&out);
    return text;
}

// SPDX-License-Identifier: MIT
#include "tui/screen/gauge.h"

#include <math.h>
#include <stdio.h>

enum Style Gauge_heat(double share)
{
    if (!(share >= 0.01))
        return STYLE_HEAT_1;
    if (share < 0.05)
        return STYLE_HEAT_2;
    if (share < 0.10)
        return STYLE_HEAT_3;
    return share < 0.25 ? STYLE_HEAT_4 : STYLE_HEAT_5;
}

void Gauge_trend(char *out, size_t size, const float *values, int count,
                 double most)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t used = 0;
    for (int i = 0; i < count && used + 4 <= size; i++) {
        double value = values[i];
        const char *bar = "·";
        if (isfinite(value)) {
            double part = most > 0 ? value / most : 0;
            int step = (int)(fmin(fmax(part, 0), 1) * 7 + 0.5);
            bar = bars[step];
        }
        used += (size_t)snprintf(out + used, size - used, "%s", bar);
    }
    out[used] = 0;
}

void Gauge_bar(struct Canvas *canvas, struct Box box, double part,
               uint8_t style)
{
    static const char *const eighths[] = {"▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int whole, rest, x = box.x, cells = box.width;
    if (!(part > 0) || !cells)
        return;
    part = part > 1 ? 1 : part;
    whole = (int)(part * cells);
    rest = (int)(part * cells * 8) % 8;
    for (int i = 0; i < whole; i++)
        x = Canvas_put(canvas, box.y, x, box.x + cells, style, "█");
    if (rest && !canvas->ascii)
        Canvas_put(canvas, box.y, x, box.x + cells, style, eighths[rest - 1]);
    else if (rest >= 4)
        Canvas_put(canvas, box.y, x, box.x + cells, style, "█");
}

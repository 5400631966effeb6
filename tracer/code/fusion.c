// SPDX-License-Identifier: MIT
#include "tracer/code/fusion.h"

size_t Fusion_restore(const struct Fusion *fusion, uint8_t *bytecode,
                      size_t units)
{
    unsigned before = 0, part;
    size_t unit = 0, count = 0;

    while (unit < units && fusion->length[bytecode[2 * unit]]) {
        uint8_t both;

        part = fusion->part[bytecode[2 * unit]];
        both = fusion->both[before][part];
        // Instructions are not overwritten if they are already fused or call a
        // hook.
        if (both && bytecode[2 * unit - 2] == fusion->plain[before]) {
            bytecode[2 * unit - 2] = both;
            count++;
        }
        before = part;
        unit += fusion->length[bytecode[2 * unit]];
    }
    return count;
}

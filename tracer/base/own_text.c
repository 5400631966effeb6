// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // dl_iterate_phdr needs _GNU_SOURCE.
#include "tracer/base/own_text.h"

#include <link.h>
#include <stddef.h>

// `begin` and `end` are global, because the signal handlers outlive each
// session.
static uintptr_t begin, end;

// Stores the bounds of the executable segment that contains the function
// `note`. If `info` describes the file with this segment, `note` returns 1,
// which ends the search.
static int note(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t here = (uintptr_t)note;

    (void)size;
    (void)context;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || here < from ||
            here >= from + part->p_memsz)
            continue;
        begin = from;
        end = from + part->p_memsz;
        return 1;
    }
    return 0;
}

void OwnText_find(void)
{
    dl_iterate_phdr(note, NULL);
}

bool OwnText_holds(uintptr_t address)
{
    return address >= begin && address < end;
}

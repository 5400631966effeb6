// SPDX-License-Identifier: MIT
// A code page is a page of Ocular's machine code in another process. A thread
// that starts in the page takes the GIL, runs a line of Python, unmaps the page
// and ends. sleeper.c calls these functions while the process is stopped, on
// x86-64 only.
#pragma once

#include "tui/attach/sigframe.h"

#define CODE_PAGE_TEXT 512

struct CodePage {
    uint64_t ensure; // addresses of functions in the process:
                     // PyGILState_Ensure(), ...
    uint64_t run;
    uint64_t release;
    uint64_t unmap;
    char text[CODE_PAGE_TEXT];
    unsigned char code[128];
};

// Returns an address at which the page can be mapped, or 0 if no gap between
// mappings is large enough. If an earlier ocular-top has mapped a page in the
// process and was then killed, returns the address of that page. At any other
// returned address nothing is mapped.
uint64_t CodePage_place(pid_t pid);
// Describes the function call that maps the page.
struct SigframeCall CodePage_map(uint64_t mmap, uint64_t place);
// Returns true if the page is mapped and all its bytes are still zero.
bool CodePage_is_there(pid_t pid, uint64_t place);
// Writes `page` into the process, through one of its stopped threads. The
// caller must have set all members except `code`. Returns 0 or -errno.
int CodePage_write(struct CodePage *page, pid_t thread, uint64_t place);
// Describes the function call that starts a thread in the page.
struct SigframeCall CodePage_start(uint64_t start_thread, uint64_t place);

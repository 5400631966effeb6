// SPDX-License-Identifier: MIT
// A page of another process with code of ours: a thread that begins there takes
// the interpreter's lock, runs a line of Python, unmaps the page and ends.
// Called by sleeper.c while the process is stopped. x86-64 only.
#ifndef OCULAR_TUI_ATTACH_CODE_PAGE_H
#define OCULAR_TUI_ATTACH_CODE_PAGE_H

#include "tui/attach/sigframe.h"

#define CODE_PAGE_TEXT 512

struct CodePage {
    uint64_t ensure; // PyGILState_Ensure(), and what else the code calls
    uint64_t run;
    uint64_t release;
    uint64_t unmap;
    char text[CODE_PAGE_TEXT];
    unsigned char code[128];
};

// Its address: of a page that a killed attacher had mapped and did not use,
// else a free one; 0: none.
uint64_t CodePage_place(pid_t pid);
// The call that maps it.
struct SigframeCall CodePage_map(uint64_t mmap, uint64_t place);
bool CodePage_is_there(pid_t pid, uint64_t place);
// By a stopped thread of the process; `page` has all but the code. 0 or -errno.
int CodePage_write(struct CodePage *page, pid_t thread, uint64_t place);
// The call that starts a thread there.
struct SigframeCall CodePage_start(uint64_t start_thread, uint64_t place);

#endif

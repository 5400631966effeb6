// SPDX-License-Identifier: MIT
// The script that a process is asked to run, and the folder that it lies in,
// where its answer comes to. The folder is the process's user's alone; whoever
// renames `wanted` in it first, the script or we, has decided whether it runs.
// We hold a lock on that file: where the lock is gone, so are we, and the
// script does nothing and cleans up. Called by attach.c, on the main thread.
#ifndef OCULAR_TUI_ATTACH_SCRIPT_H
#define OCULAR_TUI_ATTACH_SCRIPT_H

#include "ipc/process.h"

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_PATH 64                    // bytes
#define SCRIPT_NAME "ocular-attach-"      // of its folder within /tmp
#define SCRIPT_PREFIX "/tmp/" SCRIPT_NAME // of the script's path

// A line of Python that runs the script, with its path. The program's own names
// stay as they are, and so does what it may have put in place of open() and
// exec().
#define SCRIPT_LINE                                                            \
    "try: __import__('builtins').exec(__import__('io').open('%s').read(), "    \
    "{})\nexcept BaseException: pass\n"

struct Script {
    pid_t pid;
    pid_t inner_pid; // in its own pid namespace
    struct ProcessUser user;
    int tmp;                // descriptor of /tmp, as the process sees it
    int folder;             // of the folder, so that no link takes its place
    int lock;               // of the file that is locked
    char name[SCRIPT_PATH]; // the folder, in /tmp; "": there is none
    char here[SCRIPT_PATH]; // the folder, by its descriptor
    char path[SCRIPT_PATH]; // the script, for the process
};

enum ScriptState { SCRIPT_WAITS, SCRIPT_BEGUN, SCRIPT_DONE };

// `verb`: "begin" or "end", of ocular._attach; `folder`: where Ocular is if not
// in the program's own environment, or "". 0, or -errno with `why`.
int Script_write(struct Script *script, pid_t pid, const char *verb,
                 const char *folder, char *why, size_t why_size);
// If the script is done, `answer` has its error, or "".
enum ScriptState Script_look(const struct Script *script, char *answer,
                             size_t size);
// True: it will not run any more. False: it has begun.
bool Script_revoke(const struct Script *script);
// Makes a marker file there, for another viewer if this one is killed.
#define SCRIPT_ASKED "asked"   // the process is about to be asked
#define SCRIPT_SHARED "shared" // and more than one thread of it
int Script_mark(const struct Script *script, const char *name);
// Removes the folder, and those of viewers that were killed. `only`: no other
// request waits in the process.
void Script_remove(struct Script *script, bool only);

#endif

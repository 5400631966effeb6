// SPDX-License-Identifier: MIT
// struct Script is the script that another process runs for Ocular, together
// with the folder for the script and its answer. Only the process's user has
// access to this folder. Before the script does its work, it renames the file
// `wanted`. To revoke the script, ocular-top renames the same file. Only one of
// the two renames can succeed, and this rename decides whether the script does
// its work. ocular-top holds a lock on this file. If the lock on this file is
// free, ocular-top has ended, and the script only removes the folder.
#pragma once

#include "ipc/process.h"

#include <stdbool.h>
#include <stddef.h>

#define SCRIPT_PATH 64               // Largest size of a path in bytes.
#define SCRIPT_NAME "ocular-attach-" // First part of the folder's name in /tmp.
#define SCRIPT_PREFIX "/tmp/" SCRIPT_NAME // First part of the script's path.

// A line of Python that runs the script at the path %s in the process. The line
// does not change the program's variables, and works even if the program has
// replaced open() or exec().
#define SCRIPT_LINE                                                            \
    "try: __import__('builtins').exec(__import__('io').open('%s').read(), "    \
    "{})\nexcept BaseException: pass\n"

struct Script {
    pid_t pid;
    pid_t inner_pid; // Number of the process inside its own pid namespace.
    struct ProcessUser user;
    int tmp; // Descriptor of /tmp below the process's root directory.
    // Descriptor of the folder, so that no link can replace the folder.
    int folder;
    int lock; // Descriptor of the file that is locked.
    // Name of the folder in /tmp, or "" if there is no folder.
    char name[SCRIPT_PATH];
    char path[SCRIPT_PATH]; // Path of the script for the process.
};

enum ScriptState { SCRIPT_WAITS, SCRIPT_BEGUN, SCRIPT_DONE };

// `verb` is the name of a function of ocular._attach, "begin" or "end".
// `folder` contains Ocular's package for a program that has no Ocular of its
// own, or is "". Returns 0, or -errno with the reason in `why`.
int Script_write(struct Script *script, pid_t pid, const char *verb,
                 const char *folder, char *why, size_t why_size);
// Returns the state of the script. If the state is SCRIPT_DONE, `answer` is the
// script's error or "".
enum ScriptState Script_look(const struct Script *script, char *answer,
                             size_t size);
// Revokes the script. Returns true if the script will not run any more, and
// false if it has already begun.
bool Script_revoke(const struct Script *script);
// Makes a marker file in the folder. If this viewer is killed, another viewer
// can read the marker.
#define SCRIPT_ASKED "asked"   // The next action is to ask the process.
#define SCRIPT_SHARED "shared" // The next action is to ask several threads.
int Script_mark(const struct Script *script, const char *name);
// Removes the folder, and the folders of viewers that were killed. `only` must
// be true if no other request is pending in the process.
void Script_remove(struct Script *script, bool only);

// SPDX-License-Identifier: MIT
// Answers a viewer's messages: decides which user may connect, greets, and
// serves or refuses requests. Owns nothing. clients.c calls it on the server's
// thread.
#ifndef OCULAR_IPC_DISPATCH_H
#define OCULAR_IPC_DISPATCH_H

#include "ipc/source.h"
#include "ipc/viewer.h"

#include <sys/types.h>

// The sources of an answer; borrowed.
struct DispatchContext {
    const struct ServerSource *source;
    const char *version; // of Ocular
};

// The reason why this user may not look, or NULL. The user id of "nobody" may
// stand for anybody: not even a process that has it can be sure that it is its
// own user's.
const char *Dispatch_objection(uid_t uid);
// A viewer that gets no slot: sends the error as far as it goes, and hangs up.
void Dispatch_reject(int fd, int error, const char *words);
// Its first message. true: it is let in.
bool Dispatch_greet(const struct DispatchContext *context,
                    struct Viewer *viewer, const struct Message *message,
                    uint64_t now);
// A request. 0 or -ENOBUFS: it does not read its answers.
int Dispatch_serve(const struct DispatchContext *context, struct Viewer *viewer,
                   const struct Message *message, uint64_t now);
// Bytes that are no message: the viewer is disconnected.
void Dispatch_refuse(struct Viewer *viewer, int error, uint64_t now);

#endif

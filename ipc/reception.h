// SPDX-License-Identifier: MIT
// How a viewer is received: who may look, what is said to who says hello, and
// what becomes of its requests. Owns nothing. The audience calls it on the
// server's thread.
#ifndef OCULAR_IPC_RECEPTION_H
#define OCULAR_IPC_RECEPTION_H

#include "ipc/source.h"
#include "ipc/viewer.h"

#include <sys/types.h>

// Who receives; borrowed.
struct House {
    const struct ServerSource *source;
    const char *version; // of Ocular
};

// Why this user may not look, or NULL. Nobody may be anybody: not even a
// process that is nobody itself can tell its own user by that number.
const char *Reception_objection(uid_t uid);
// One that gets no slot: an error as far as it goes, and out.
void Reception_turn_away(int fd, int error, const char *words);
// Its first message. true: it is let in.
bool Reception_greet(const struct House *house, struct Viewer *viewer,
                     const struct Message *message, uint64_t now);
// A request. 0 or -ENOBUFS: it does not read its answers.
int Reception_serve(const struct House *house, struct Viewer *viewer,
                    const struct Message *message, uint64_t now);
// Bytes that are no message: out.
void Reception_refuse(struct Viewer *viewer, int error, uint64_t now);

#endif

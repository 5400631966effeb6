// SPDX-License-Identifier: MIT
// Answers a viewer's messages. Decides which user may connect, takes the hello,
// and serves or refuses requests. dispatch.c owns no data. clients.c calls
// these functions on the server's thread.
#pragma once

#include "ipc/source.h"
#include "ipc/viewer.h"

#include <sys/types.h>

// Returns the reason why the user `uid` may not connect, or NULL. The user id
// of "nobody" may stand for several users. Even a process that runs as "nobody"
// refuses the user id of "nobody".
const char *Dispatch_objection(uid_t uid);
// Disconnects a viewer that is not admitted. If the socket's buffer has space,
// first sends an error.
void Dispatch_reject(int fd, int error, const char *words);
// Handles the viewer's first message. Returns true if the viewer is admitted.
// `version` is the version of Ocular, for the text of an ERROR.
bool Dispatch_greet(const struct ServerSource *source, const char *version,
                    struct Viewer *viewer, const struct Message *message,
                    uint64_t now);
// Serves a viewer's request. Returns 0, or -ENOBUFS if too many answers wait
// because the viewer does not read them.
int Dispatch_serve(const struct ServerSource *source, const char *version,
                   struct Viewer *viewer, const struct Message *message,
                   uint64_t now);
// Disconnects a viewer whose bytes are not a message of Ocular's protocol.
void Dispatch_refuse(struct Viewer *viewer, int error, uint64_t now);

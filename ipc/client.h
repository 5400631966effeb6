// SPDX-License-Identifier: MIT
// The viewer's end of a connection: connects, says hello, turns bytes into
// messages. One thread; nothing blocks but Client_open and Client_wait.
#ifndef OCULAR_IPC_CLIENT_H
#define OCULAR_IPC_CLIENT_H

#include "ipc/address.h"
#include "ipc/wire.h"

struct Client;

// Connects and exchanges hello, within 2 s. 0, or -errno with `why` in words:
// who refuses and what to do (-EPROTONOSUPPORT: a newer protocol).
int Client_open(struct Client **client, const struct Served *served, char *why,
                size_t why_size);
void Client_close(struct Client *client);
int Client_fd(const struct Client *client); // to poll for reading
const struct Message *Client_hello(const struct Client *client);
// Sends a request; its number is filled in. A descriptor is copied. 0 or
// -errno; -EAGAIN: the process does not take the bytes that were sent before.
int Client_request(struct Client *client, struct Message *request);
// The next message that has arrived: 1 and *message (release it), 0 none yet,
// -EPIPE the process is gone, -EPROTO it speaks nonsense.
int Client_next(struct Client *client, struct Message *message);
// As Client_next, but waits up to timeout_ms. 0 = timed out.
int Client_wait(struct Client *client, struct Message *message, int timeout_ms);

#endif

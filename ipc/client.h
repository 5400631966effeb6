// SPDX-License-Identifier: MIT
// A client is the viewer's end of a connection. A client connects, sends the
// hello, and decodes bytes into messages. Only one thread uses a client. Only
// Client_open and Client_wait block.
#ifndef OCULAR_IPC_CLIENT_H
#define OCULAR_IPC_CLIENT_H

#include "ipc/address.h"
#include "ipc/wire.h"

struct Client;

// Connects and exchanges the hellos, within 2 s. Returns 0 or -errno. After an
// error `why` says what went wrong and what the user can do. -EPROTONOSUPPORT
// means that the process speaks another version of the protocol.
int Client_open(struct Client **client, const struct Served *served, char *why,
                size_t why_size);
// Client_begin connects without waiting for the process's hello. After it,
// Client_greet is called whenever the descriptor is readable. Client_greet
// returns 1 if the client can be used, 0 if the hello has not come yet, or
// -errno. In all other points both functions work as Client_open does.
int Client_begin(struct Client **client, const struct Served *served, char *why,
                 size_t why_size);
int Client_greet(struct Client *client, pid_t pid, char *why, size_t why_size);
void Client_close(struct Client *client);
// Returns the descriptor to poll for reading.
int Client_fd(const struct Client *client);
const struct Message *Client_hello(const struct Client *client);
// Sends a request and sets request->request. Duplicates the descriptor of the
// request. Returns 0 or -errno; -EAGAIN means that the process has not read the
// earlier requests.
int Client_request(struct Client *client, struct Message *request);
// Gets the next message that has arrived. Returns 1 and fills *message, which
// the caller releases. Returns 0 if no message has arrived, -EPIPE if the
// process is gone, or -EPROTO if the bytes are not our protocol. A later
// call closes the descriptor of a RECORDING.
int Client_next(struct Client *client, struct Message *message);
// Waits up to timeout_ms for a message. Otherwise works as Client_next does.
// Returns 0 after the timeout.
int Client_wait(struct Client *client, struct Message *message, int timeout_ms);

#endif

// SPDX-License-Identifier: MIT
// struct Client is the viewer's end of the connection to a traced process. A
// client connects to the process, sends the hello, and decodes the received
// bytes into messages. A client is used by one thread only. Of the functions
// below, only Client_open and Client_wait block.
#pragma once

#include "ipc/address.h"
#include "ipc/wire.h"

struct Client;

// Connects to a traced process and exchanges the hellos, within 2 s. Returns 0
// or -errno. After an error `why` says what went wrong and what the user can
// do. -EPROTONOSUPPORT means that the process speaks another version of the
// protocol.
int Client_open(struct Client **client, const struct Served *served, char *why,
                size_t why_size);
// Client_begin connects without waiting for the process's hello. After
// Client_begin, the caller must call Client_greet whenever the connection's
// descriptor is readable. Client_greet returns 1 if the client can be used, 0
// if the hello has not come yet, or -errno. In all other points, Client_begin
// and Client_greet work as Client_open does.
int Client_begin(struct Client **client, const struct Served *served, char *why,
                 size_t why_size);
int Client_greet(struct Client *client, pid_t pid, char *why, size_t why_size);
void Client_close(struct Client *client);
// Returns the connection's descriptor, which the caller polls for reading.
int Client_fd(const struct Client *client);
const struct Message *Client_hello(const struct Client *client);
// Sends a request and sets request->request to its number. If the request has a
// descriptor, sends a duplicate of that descriptor. Returns 0 or -errno.
// -EAGAIN means that the process has not read the earlier requests.
int Client_request(struct Client *client, struct Message *request);
// Takes the next message that has arrived. Returns 1 and fills *message, which
// the caller releases. Returns 0 if no message has arrived, -EPIPE if the
// process is gone, or -EPROTO if the bytes are not Ocular's protocol. If a
// message RECORDING has a descriptor, a later call of Client_next closes the
// descriptor.
int Client_next(struct Client *client, struct Message *message);
// Waits for a message, for at most timeout_ms. Returns 0 if no message has come
// within timeout_ms. In all other points, Client_wait works as Client_next
// does.
int Client_wait(struct Client *client, struct Message *message, int timeout_ms);

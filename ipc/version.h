// SPDX-License-Identifier: MIT
// OCULAR_VERSION is the only definition of Ocular's version.
#ifndef OCULAR_IPC_VERSION_H
#define OCULAR_IPC_VERSION_H

#define OCULAR_VERSION "0.1.0"

#endif

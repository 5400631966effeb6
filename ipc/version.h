// SPDX-License-Identifier: MIT
// The one place that names Ocular's version.
#ifndef OCULAR_IPC_VERSION_H
#define OCULAR_IPC_VERSION_H

#define OCULAR_VERSION "0.1.0"

#endif

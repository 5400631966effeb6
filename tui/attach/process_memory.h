// SPDX-License-Identifier: MIT
// The memory of another process, read and written without stopping it. Called
// by all of tui/attach/, on the main thread. The bytes that are read are not to
// be trusted.
#ifndef OCULAR_TUI_ATTACH_PROCESS_MEMORY_H
#define OCULAR_TUI_ATTACH_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// 0 if all of it was read or written, -EFAULT if only a part of it is there, or
// -errno: -EPERM if the kernel does not let us.
int ProcessMemory_read(pid_t pid, uint64_t address, void *out, size_t size);
int ProcessMemory_write(pid_t pid, uint64_t address, const void *data,
                        size_t size);

#endif

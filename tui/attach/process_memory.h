// SPDX-License-Identifier: MIT
// Reads and writes the memory of another process without stopping it. The bytes
// that are read must not be trusted. Called by all of tui/attach/, on the main
// thread.
#ifndef OCULAR_TUI_ATTACH_PROCESS_MEMORY_H
#define OCULAR_TUI_ATTACH_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// ProcessMemory_read and ProcessMemory_write return 0 if all bytes were moved,
// -EFAULT if only a part of the range is mapped, or another -errno: -EPERM if
// the kernel refuses.
int ProcessMemory_read(pid_t pid, uint64_t address, void *out, size_t size);
int ProcessMemory_write(pid_t pid, uint64_t address, const void *data,
                        size_t size);

#endif

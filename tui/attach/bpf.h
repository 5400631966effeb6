// SPDX-License-Identifier: MIT
// Computes a seccomp filter's answer to a system call. Bpf_run runs the
// filter's classic BPF program as the kernel does. The functions are pure.
// seccomp.c calls these functions.
#ifndef OCULAR_TUI_ATTACH_BPF_H
#define OCULAR_TUI_ATTACH_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BPF_CODE_MOST 4096 // instructions: the kernel's BPF_MAXINSNS

// Returns the answer, SECCOMP_RET_..., with its data. Returns
// SECCOMP_RET_KILL_PROCESS if the kernel does not accept the program.
uint32_t Bpf_run(const struct sock_filter *code, size_t count,
                 const struct seccomp_data *call);
// Returns true if `answer` ends the process or one of its threads.
// SECCOMP_RET_TRAP counts as well, since SIGSYS ends a process that has no
// handler for it.
bool Bpf_kills(uint32_t answer);

#endif

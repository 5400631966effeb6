// SPDX-License-Identifier: MIT
// The answer of a seccomp filter to a system call: runs its classic BPF program
// as the kernel does. Pure. Called by seccomp.c.
#ifndef OCULAR_TUI_ATTACH_BPF_H
#define OCULAR_TUI_ATTACH_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BPF_CODE_MOST 4096 // instructions: the kernel's BPF_MAXINSNS

// SECCOMP_RET_... with its data. A program that the kernel would not have taken
// kills: SECCOMP_RET_KILL_PROCESS.
uint32_t Bpf_run(const struct sock_filter *code, size_t count,
                 const struct seccomp_data *call);
// Does that answer end the process, or leave it without the thread? A trap does
// if nobody handles SIGSYS.
bool Bpf_kills(uint32_t answer);

#endif

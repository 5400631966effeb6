// SPDX-License-Identifier: MIT
// Wraps a library for read-copy-update (RCU). Ocular's own threads register,
// and use the "bulletproof" flavour of liburcu. All other threads, which are
// mostly the program's threads, take a mutex for a few instructions at the
// beginning and at the end of a read section. Only rcu.c calls liburcu.
// liburcu's call_rcu is not used, because it would start another thread in the
// traced process.
#pragma once

// Registers the calling thread, which is one of Ocular's own threads and has
// just begun (Worker.prepare). A registered thread reads without taking a lock.
// If memory is out, the thread stays unregistered and reads like the program's
// threads.
void Rcu_register(void);
void Rcu_read_lock(void); // Read sections may be nested.
void Rcu_read_unlock(void);
// Publishes the pointer `value` in *slot and returns the old pointer. A slot
// has only one writer.
void *Rcu_exchange(void **slot, void *value);
// The caller of Rcu_dereference is in a read section.
void *Rcu_dereference(void **slot);
// Waits until all read sections have ended that are open now. The caller of
// Rcu_synchronize must not hold the GIL and must not be in a read section.
void Rcu_synchronize(void);
void Rcu_before_fork(void);
void Rcu_after_fork_parent(void);
void Rcu_after_fork_child(void);

// SPDX-License-Identifier: MIT
// Read-copy-update, by liburcu's "bulletproof" flavour for threads of ours that
// have registered; all others, the program's above all, read under a mutex that
// is held for a few instructions. The only file that knows liburcu. No
// call_rcu: its thread would be a stranger in the traced process.
#ifndef OCULAR_TRACER_BASE_RCU_H
#define OCULAR_TRACER_BASE_RCU_H

// Called by a thread of ours when it begins (Worker.prepare): from now on it
// reads without a lock. If memory is out, it reads as other threads do.
void Rcu_register(void);
void Rcu_read_lock(void); // sections nest
void Rcu_read_unlock(void);
// Publishes a new value in *slot, returns the old one. One writer.
void *Rcu_exchange(void **slot, void *value);
void *Rcu_dereference(void **slot); // in a read section
// Waits until every read section that now runs has ended. Never with the
// interpreter's lock, never inside a read section.
void Rcu_synchronize(void);
void Rcu_before_fork(void);
void Rcu_after_fork_parent(void);
void Rcu_after_fork_child(void);

#endif

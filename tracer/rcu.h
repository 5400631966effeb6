// SPDX-License-Identifier: MIT
// Read-copy-update, by liburcu's "bulletproof" flavour: readers register by
// themselves. The only file that knows liburcu. No call_rcu: its thread would
// be a stranger in the traced process.
#ifndef OCULAR_TRACER_RCU_H
#define OCULAR_TRACER_RCU_H

void Rcu_read_lock(void);
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

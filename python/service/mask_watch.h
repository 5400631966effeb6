// SPDX-License-Identifier: MIT
// Makes signal.pthread_sigmask() notify the sampler that the calling thread has
// changed its mask. If a thread has blocked the sampler's signal, this signal
// must not become pending for the thread (tracer/sample/timer_signal.h). The
// Python object signal.pthread_sigmask is not replaced. Only its C function is
// replaced by Ocular's, which calls CPython's.
#pragma once

// The caller holds the GIL. A second start or stop does nothing. If
// signal.pthread_sigmask is not CPython's own, MaskWatch_start and
// MaskWatch_stop do nothing. MaskWatch_start and MaskWatch_stop leave no
// exception set.
void MaskWatch_start(void);
void MaskWatch_stop(void);

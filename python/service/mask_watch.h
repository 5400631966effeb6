// SPDX-License-Identifier: MIT
// Makes signal.pthread_sigmask() notify the sampler that the calling thread has
// changed its mask. A thread that has blocked the sampler's signal must not
// find this signal pending (tracer/sample/timer_signal.h). The Python function
// stays the same object. Our C function replaces the C function of this object,
// and calls CPython's.
#ifndef OCULAR_PYTHON_SERVICE_MASK_WATCH_H
#define OCULAR_PYTHON_SERVICE_MASK_WATCH_H

// The caller holds the GIL. A second start or stop does nothing. Neither
// function does anything if signal.pthread_sigmask is not CPython's own.
// MaskWatch_start and MaskWatch_stop leave no exception set.
void MaskWatch_start(void);
void MaskWatch_stop(void);

#endif

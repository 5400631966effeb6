// SPDX-License-Identifier: MIT
// signal.pthread_sigmask() tells the sampler that the calling thread has
// changed its mask: a thread that has blocked the sampler's signal must not
// find it pending (tracer/sample/timer_signal.h). The program's function stays
// the same object; what it calls in C is ours, which calls CPython's.
#ifndef OCULAR_PYTHON_SERVICE_MASK_WATCH_H
#define OCULAR_PYTHON_SERVICE_MASK_WATCH_H

// Both with the interpreter's lock; a second start or stop does nothing, nor
// does either if the function is not CPython's. No exception is left.
void MaskWatch_start(void);
void MaskWatch_stop(void);

#endif

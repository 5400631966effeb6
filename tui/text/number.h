// SPDX-License-Identifier: MIT
// Formats numbers for narrow columns, with a few significant digits and a unit.
// Each function writes into the caller's buffer, and returns the buffer. The
// comment behind a function shows examples. NaN is written as "-". The
// functions are pure, and any thread may call them.
#pragma once

#include <stdint.h>

#define NUMBER_MAX 32

const char *Number_count(char out[NUMBER_MAX], double value);    // 310k, 3.2T
const char *Number_rate(char out[NUMBER_MAX], double value);     // 0.3, 1.2M
const char *Number_ns(char out[NUMBER_MAX], double ns);          // 390ns, 1.2ms
const char *Number_percent(char out[NUMBER_MAX], double share);  // 31.4%, 312%
const char *Number_age(char out[NUMBER_MAX], double seconds);    // now, 4s, 3m
const char *Number_uptime(char out[NUMBER_MAX], double seconds); // 2:14:09
const char *Number_seconds(char out[NUMBER_MAX], double seconds); // 0.5s, 10s
const char *Number_bytes(char out[NUMBER_MAX], double bytes);     // 12.3 MiB
const char *Number_grouped(char out[NUMBER_MAX], uint64_t value); // 1 204

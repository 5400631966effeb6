// SPDX-License-Identifier: MIT
// OCULAR_VERSION is the only definition of Ocular's version.
#pragma once

#define OCULAR_VERSION "0.1.0"

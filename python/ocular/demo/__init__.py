# SPDX-License-Identifier: MIT
"""The program that `make demo` and the tests trace.

It plays a small service. A feeder invents jobs, two parsers work them out, an
archivist packs the results with the C library's help, and an analyst computes
in plain Python. `service` holds the threads, `pure` single-threaded pieces
whose call counts never change. `python -m ocular.demo --help` tells the rest.
"""

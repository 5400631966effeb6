# SPDX-License-Identifier: MIT
"""The program that `make demo` and the tests trace.

The program imitates a small service. A feeder makes jobs, two parsers evaluate them, an
archivist packs the results with C libraries, and an analyst computes in plain Python.
`service` has the workload's threads. `pure` has single-threaded pieces whose call counts
never change. `python -m ocular.demo --help` explains the options.
"""

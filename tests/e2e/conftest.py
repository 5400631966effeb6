# SPDX-License-Identifier: MIT
from e2e.fixtures import environment, own_place, sockets  # noqa: F401

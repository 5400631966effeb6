# SPDX-License-Identifier: MIT
from e2e.fixtures import own_place, sockets  # noqa: F401

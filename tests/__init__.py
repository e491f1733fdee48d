"""Tests, and programs beside them."""

import os

# Each test compiles its grammars afresh, so that none sees what masks another has computed.
os.environ.setdefault("WORKBENCH_COMPILED_GRAMMARS", "0")
os.environ.setdefault("WORKBENCH_READ_GRAMMARS", "0")

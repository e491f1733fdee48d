"""Settings of every test run."""

from __future__ import annotations

import os

# Before anything imports torch or transformers: one thread a test (two on a busy machine are slower
# than one), no look at the network for models, no progress bars in the output.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TQDM_DISABLE", "1")

from hypothesis import HealthCheck, settings

# Machines differ in speed and share their cores: a slow example is no failure. In continuous
# integration the same examples run every time; elsewhere new ones are drawn.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

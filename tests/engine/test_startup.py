"""What an engine loads on its way to the first mask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = {
    "model": {"type": "BPE", "vocab": {"y": 0, "e": 1, "s": 2, "yes": 3, "</s>": 4}, "merges": []},
    "decoder": {"type": "ByteLevel"},
    "added_tokens": [{"id": 4, "content": "</s>", "special": True}],
}
HEAVY = {"IPython", "ipywidgets", "lark", "pandas", "scipy", "tokenizers", "torch", "transformers"}

FIRST_MASK = """
import sys
import workbench as wb
def report():
    print(*sorted({name.partition(".")[0] for name in sys.modules}))
report()
vocabulary = wb.Vocabulary.load(sys.argv[1])
grammar = wb.regex("(yes)+")
report()
matcher = wb.compile(grammar, vocabulary).matcher()
print(*matcher.allowed_ids())
report()
"""


def test_the_first_mask_needs_no_library_of_models_or_notebooks(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(TOKENIZER))
    environment = os.environ | {
        "WORKBENCH_CACHE_DIR": str(tmp_path / "cache"),
        "WORKBENCH_DISABLE_JIT": "1",
    }
    for _ in range(2):  # without and with the vocabulary on disk
        done = subprocess.run(
            [sys.executable, "-c", FIRST_MASK, str(path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=environment,
        )
        package, vocabulary, ids, mask = done.stdout.splitlines()
        assert not set(package.split()) & (HEAVY | {"llvmlite", "numba", "numpy"})
        assert not set(vocabulary.split()) & (HEAVY | {"llvmlite", "numba"})
        assert ids == "0 3"
        assert not set(mask.split()) & (HEAVY | {"numba"})

import os
import sys
from pathlib import Path

import pytest

# The contract's streams and stages serve here, too.
sys.path.append(str(Path(__file__).parents[1] / "models"))


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Checkpoints after every batch need not wait for the disk: no test pulls the plug."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)

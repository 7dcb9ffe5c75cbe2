"""The counts beside the paper's budgets, and the reason for each that is off."""

import pytest
import torch
from torch import nn

from ctan.models.budgets import REASONS, TOLERANCE, budgets, count
from ctan.models.grids import GRIDS

COUNTS = {(found.grid, found.model): found for found in budgets() if found.dim}


def test_every_count_that_is_off_has_its_reason_and_no_other_has():
    off = {place for place, found in COUNTS.items() if abs(found.off) > TOLERANCE}
    assert off == set(REASONS)


@pytest.mark.parametrize(
    ("grid", "with_skip"), [("seq", 20_168), ("pasc", 40_834), ("link", 139_873)]
)
def test_ctan_keeps_the_budget_with_the_weights_that_the_paper_s_code_never_uses(grid, with_skip):
    found = COUNTS[grid, "ctan"]
    assert found.dim is not None
    skip = sum(p.numel() for p in nn.Linear(found.dim, found.dim).parameters())
    assert found.total + skip == with_skip
    assert abs(with_skip / GRIDS[grid].budget - 1) < 0.03
    # The diagonal of W cancels in W - W^T, the key's bias in the softmax.
    assert found.dead == 2 * found.dim


def test_layers_at_which_tgat_and_tgn_keep_the_budget():
    assert COUNTS["seq", "tgat"].by_layers[1] == 20_679
    assert COUNTS["seq", "tgn"].by_layers[1] == 19_581
    each = (COUNTS["link", "tgn"].by_layers[2] - COUNTS["link", "tgn"].by_layers[1]) // 2
    assert COUNTS["link", "tgn"].by_layers[1] + each == 142_938


@pytest.mark.parametrize(
    ("grid", "model", "blocks", "total"),
    [
        ("seq", "graphmixer", 3, 24_547),
        ("pasc", "graphmixer", 8, 40_737),
        ("seq", "dygformer", 2, 40_188),
        ("pasc", "dygformer", 2, 78_500),
    ],
)
def test_counts_with_other_numbers_of_blocks(grid, model, blocks, total, monkeypatch):
    given = {"dim": GRIDS[grid].dims[model][0], "time_dim": 1, "layers": blocks}
    monkeypatch.setattr("ctan.models.budgets.sizes", lambda *_: given)
    assert count(grid, model).total == total


def test_counting_leaves_the_generator_alone():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first, again = count("seq", "jodie"), count("seq", "jodie")
    assert first == again
    assert torch.equal(torch.get_rng_state(), before)


def test_models_without_a_size_have_no_count():
    assert count("link", "dygformer").dim is None
    assert count("seq", "edgebank").total == 0

"""What every model says of itself is there, and is what the model does."""

import pytest

from ctan.errors import CtanError
from ctan.models import MODELS, Dims, Sees, build
from ctan.models.card import card, seen

DIMS = Dims(nodes=5, edge_dim=3, node_dim=2)


@pytest.mark.parametrize("name", MODELS)
def test_every_registered_model_has_a_whole_card(name):
    found = card(name, DIMS)
    assert found.about
    assert found.paper
    assert found.use
    assert found.sees
    assert set(found.options) <= set(found.meaning), "an option that the docstring leaves out"
    for text in (found.about, *found.meaning.values()):
        assert "`" not in text
        assert ":math:" not in text


@pytest.mark.parametrize("name", MODELS)
def test_what_it_remembers_and_costs_is_that_of_the_model(name):
    found, model = card(name, DIMS), build(name, DIMS)
    assert found.parameters == sum(p.numel() for p in model.parameters())
    assert bool(found.remembers) == (model.stateful and bool(model.init_state().tensors()))
    one, two = (
        sum(value.nbytes for value in build(name, Dims(nodes=n)).init_state().tensors().values())
        for n in (1, 2)
    )
    assert found.bytes_per_node == two - one


def test_options_change_the_card():
    assert card("tgat", DIMS, layers=3).sees[0] == "3 hops, 5 neighbours of each node"
    assert card("tgat", DIMS).remembers == {}
    assert card("tgat", DIMS, query_time=False).remembers == {"last_update": "int64 [N]"}
    assert "of the last 12 units of time" in card("graphmixer", DIMS, window=12.0).sees[1]
    assert card("cawn", DIMS, length=1).sees[0] == "32 walks of 1 step back in time from each node"
    assert seen(Sees()) == ["the asked nodes themselves, no neighbour"]
    with pytest.raises(CtanError, match="did you mean 'layers'"):
        card("tgat", DIMS, layer=3)

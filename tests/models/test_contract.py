"""Every registered model keeps the contract, and so does CTAN in every shape.

Models that break it are caught.
"""

import inspect

import contract
import doubles
import pytest
import torch

from ctan.models import MODELS, build, options

SETTINGS = contract.settings()
#: What keeps every model small, where it knows the option; no dropout: a score is a number.
SMALL = {"dim": 8, "time_dim": 3, "neighbors": 3, "layers": 2, "dropout": 0.0}

CTAN_SHAPES = {
    "mean, add, endpoints": {"phi": "mean", "psi": "add", "inject": "endpoints", "steps": 2},
    "gcn, tanh_concat, endpoints": {"phi": "gcn", "inject": "endpoints", "steps": 3},
    "input_only": {"psi": "input_only"},
    "self, concat, two heads": {"include_self": True, "psi": "concat", "heads": 2, "steps": 2},
    "self, mean": {"include_self": True, "phi": "mean", "final_act": True},
    "ball, endpoints": {"update": "ball", "inject": "endpoints", "steps": 2, "psi": "add"},
    "ball, frontier": {"update": "ball", "steps": 1},
    "ball, query time": {"update": "ball", "steps": 1, "query_time": True, "inject": "endpoints"},
    "query time, unshared": {"query_time": True, "share_weights": False, "steps": 2},
    "self, query time": {"query_time": True, "include_self": True, "phi": "gcn", "steps": 2},
    "rk4, isometric": {"solver": "rk4", "init": "isometric", "steps": 2},
}


def maker(name, **given):
    known = options(name)
    small = {key: value for key, value in SMALL.items() if key in known}

    def make(dims):
        torch.manual_seed(0)
        return build(name, dims, **{**small, **given})

    return make


def double(kind):
    def make(dims):
        torch.manual_seed(0)
        return kind(dims)

    return make


REGISTERED = {name: maker(name) for name in MODELS}
SHAPES = {f"ctan: {name}": maker("ctan", **given) for name, given in CTAN_SHAPES.items()}
SHAPES["pair encoder"] = double(doubles.CommonNeighbours)

registered = pytest.mark.parametrize("make", REGISTERED.values(), ids=REGISTERED)
all_shapes = pytest.mark.parametrize(
    "make", [*REGISTERED.values(), *SHAPES.values()], ids=[*REGISTERED, *SHAPES]
)
each_road = pytest.mark.parametrize(
    "setting", [SETTINGS[name] for name in ("stale", "causal", "lockstep")], ids=str
)
each_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)


@registered
@each_setting
def test_registered_models_do_not_look_ahead(make, setting, float64):
    contract.check_visibility(make, setting, every=5)


@registered
def test_nor_do_their_fused_layers(make):
    contract.check_visibility(make, SETTINGS["stale"], every=7)


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ["stale", "stale, observed", "causal", "lockstep"])
def test_no_shape_looks_ahead(make, name, float64):
    contract.check_visibility(make, SETTINGS[name], every=7)


@all_shapes
@each_road
def test_scoring_is_pure(make, setting, float64):
    contract.check_purity(make, setting)


@all_shapes
@pytest.mark.parametrize("name", ["stale", "stale, observed"])
def test_what_is_asked_is_not_remembered(make, name, float64):
    contract.check_questions(make, SETTINGS[name])


@all_shapes
@pytest.mark.parametrize("name", ["stale", "causal"])
def test_observing_after_embedding_leaves_the_same_state(make, name, float64):
    contract.check_embedded(make, SETTINGS[name])


@all_shapes
@each_road
def test_a_reset_is_a_fresh_start_and_a_seed_a_run(make, setting):
    contract.check_reset(make, setting)


@all_shapes
@each_road
def test_saved_and_loaded_it_goes_on(make, setting, tmp_path):
    contract.check_saving(make, setting, tmp_path)


@all_shapes
@each_road
def test_many_at_once_equal_one_at_a_time(make, setting, float64):
    contract.check_one_by_one(make, setting)


@registered
@pytest.mark.parametrize("name", ["stale", "stale, observed", "causal", "lockstep"])
def test_every_live_weight_of_a_registered_model_learns(make, name, float64):
    contract.check_gradients(make, SETTINGS[name])


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ["stale", "lockstep"])
def test_every_live_weight_of_a_shape_learns(make, name, float64):
    contract.check_gradients(make, SETTINGS[name])


FAULTS = {
    doubles.ReadsTheNextFeatures: (contract.check_visibility, "changes the scores"),
    doubles.ReadsTheNextTime: (contract.check_visibility, "changes the scores"),
    doubles.KnowsWhoIsNext: (contract.check_visibility, "changes the scores"),
    doubles.SeesItsBatch: (contract.check_one_by_one, "alone differs"),
    doubles.KeepsWhatItEmbedded: (contract.check_embedded, "embedding first changes 'seen'"),
    doubles.LearnsWhileAsked: (contract.check_purity, "asking twice|scoring changed"),
    doubles.HidesAMemory: (contract.check_reset, "after a reset"),
    doubles.RollsDice: (contract.check_reset, "built anew"),
    doubles.CarriesDeadWeight: (contract.check_gradients, "unused.weight never gets"),
    doubles.DividesByZero: (contract.check_gradients, "not finite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_suite_catches(fault, float64):
    check, message = FAULTS[fault]
    with pytest.raises(AssertionError, match=message):
        check(double(fault), SETTINGS["stale"])


def test_the_suite_catches_what_is_not_saved(float64, tmp_path):
    with pytest.raises(AssertionError, match="other scores once loaded"):
        contract.check_saving(double(doubles.HidesAMemory), SETTINGS["stale"], tmp_path)


def test_the_suite_has_nothing_against_the_honest(float64, tmp_path):
    for name, check in inspect.getmembers(contract, inspect.isfunction):
        if name.startswith("check_"):
            extra = (tmp_path,) if name == "check_saving" else ()
            check(double(doubles.Honest), SETTINGS["causal"], *extra)

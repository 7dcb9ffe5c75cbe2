"""`ctan study ...`: thin commands over the functions tested beside this file."""

import json

import numpy as np
import pytest

from ctan.cli import main
from ctan.events import EventStream
from ctan.study import sensitivity
from ctan.tasks import Protocol
from ctan.training import fit, open_data


@pytest.fixture
def study(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["study", *map(str, arguments)])
        said = capfd.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return run


def test_sensitivity_and_retention_give_curves_and_a_figure(study, tmp_path):
    picture = tmp_path / "curve.png"
    code, out, _ = study("sensitivity", "--hops", 3, "-o", "dim=4", "--json", "--out", picture)
    assert code == 0
    assert json.loads(out)["hops"] == [1, 2, 3]
    assert picture.stat().st_size > 0
    code, out, _ = study("retention", "--events", 2, "-m", "jodie", "-o", "dim=4")
    assert code == 0
    assert "difference" in out


def test_spectrum_names_the_bound_and_what_exceeds_it(study):
    _, out, _ = study("spectrum", "-o", "dim=30", "-o", "epsilon=1.0", "--json")
    facts = json.loads(out)
    assert facts["fastest frequency"] > facts["stable up to"] == pytest.approx(0.19**0.5)
    _, out, _ = study("spectrum", "-o", "dim=8", "-o", "solver=cayley")
    row = next(line for line in out.splitlines() if line.startswith("stable up to"))
    assert row.split()[-1] == "inf"


def test_reach_compares_theory_and_measurement(study):
    _, out, _ = study("reach", "--hops", 3, "-o", "dim=6", "--json")
    assert json.loads(out) == {"theory": [0, 0, 1, 2], "measured": [0, 0, 1, 2]}


def test_a_trained_run_is_studied_with_its_own_weights(study, tmp_path):
    stream, data = open_data("t-pathgraph", {"length": 3, "graphs": 20})
    run = fit(
        stream,
        task="sequence",
        options={"dim": 4},
        protocol=Protocol(split="graph", epochs=2, lr=0.1),
        folder=tmp_path / "run",
        data=data,
    )
    code, out, _ = study("sensitivity", "--hops", 2, "--run", tmp_path / "run", "--json")
    assert code == 0
    expected = sensitivity(run.stage.predictor.model, 2)
    assert json.loads(out)["difference"] == pytest.approx(expected.difference.tolist())
    code, _, err = study("sensitivity", "--run", tmp_path / "run", "-o", "dim=4")
    assert code == 2
    assert "--option, --vary and --run" in err
    code, _, err = study("sensitivity", "--run", tmp_path / "run", "-m", "jodie")
    assert code == 2
    assert "--model" in err


def test_runs_are_set_side_by_side_under_names_that_tell_them_apart(study, tmp_path):
    stream, data = open_data("t-pathgraph", {"length": 3, "graphs": 20})
    folders = [tmp_path / name for name in ("gamma-0/seed-0", "gamma-1/seed-0", "gamma-1/seed-1")]
    for number, folder in enumerate(folders):
        fit(
            stream,
            task="sequence",
            options={"dim": 4, "gamma": float(number > 0)},
            protocol=Protocol(split="graph", epochs=1, seed=number),
            folder=folder,
            data=data,
        )
    asked = [word for folder in folders for word in ("--run", folder)]
    _, out, _ = study("spectrum", *asked, "--json")
    gammas = {name: facts["gamma"] for name, facts in json.loads(out).items()}
    assert gammas == {"gamma-0/seed-0": 0.0, "gamma-1/seed-0": 1.0, "gamma-1/seed-1": 1.0}
    _, out, _ = study("sensitivity", "--hops", 2, *asked[2:], "--json")
    assert list(json.loads(out)) == ["seed-0", "seed-1"]
    code, _, err = study("reach", *asked[:2], *asked[:2])
    assert code == 2
    assert "the same run twice" in err


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_a_run_is_studied_with_as_many_features_as_its_data_have(study, tmp_path, variant):
    stream, data = open_data("t-pathgraph", {"length": 3, "graphs": 20, "variant": variant})
    protocol, folder = Protocol(split="graph", epochs=1), tmp_path / "run"
    run = fit(
        stream, task="sequence", options={"dim": 4}, protocol=protocol, folder=folder, data=data
    )
    model = run.stage.predictor.model
    _, out, _ = study("sensitivity", "--hops", 2, "--run", folder, "--json")
    assert json.loads(out)["difference"] == pytest.approx(sensitivity(model, 2).difference.tolist())
    for asked in (("reach", "--hops", 2), ("reach", "--hops", 2, "--standing")):
        _, out, _ = study(*asked, "--run", folder, "--json")
        assert json.loads(out) == {"theory": [0, 0, 1], "measured": [0, 0, 1]}


def test_a_run_on_events_of_any_time_without_features_of_nodes_has_a_spectrum(study, tmp_path):
    """Its first time is that of the study's events, not of its own: 1970 is not before 2020."""
    rng, found = np.random.default_rng(0), []
    src, dst = rng.integers(0, 8, (2, 60))
    msg = rng.uniform(-1, 1, (60, 3)).astype(np.float32)
    for start in (0, 1_600_000_000):
        stream = EventStream.from_arrays(src=src, dst=dst, t=start + np.arange(60), msg=msg)
        path, folder = tmp_path / f"{start}.npz", tmp_path / f"run-{start}"
        np.savez(path, src=stream.src, dst=stream.dst, t=stream.t, msg=stream.msg)
        opened, data = open_data(str(path), {})
        protocol = Protocol(epochs=1, batch_size=20)
        fit(opened, task="link", options={"dim": 4}, protocol=protocol, folder=folder, data=data)
        _, out, _ = study("spectrum", "--run", folder, "--json")
        found.append(json.loads(out)["largest factor of an event"])
    assert found[0] == pytest.approx(found[1])
    code, _, err = study("retention", "--run", folder)
    assert code == 2
    assert "without node features" in err


def test_a_standing_path_is_crossed_as_many_hops_at_a_time_as_there_are_steps(study, tmp_path):
    asked = ("reach", "--hops", 6, "--vary", "steps=1,2,3", "-o", "update=ball", "-o", "dim=6")
    picture = tmp_path / "reach.svg"
    _, out, _ = study(*asked, "--standing", "--json", "--out", picture)
    found = json.loads(out)
    assert all(each["theory"] == each["measured"] for each in found.values())
    last = {name: 1 + each["measured"][6] for name, each in found.items()}
    assert last == {"steps=1": 6, "steps=2": 3, "steps=3": 2}
    assert "<svg" in picture.read_text()
    # One that grows brings the next node at each event, whatever the steps.
    _, out, _ = study(*asked, "--json")
    assert {each["measured"][6] for each in json.loads(out).values()} == {5}


def test_mistakes_are_named(study):
    code, _, err = study("sensitivity", "-m", "ctna")
    assert code == 2
    assert "ctan" in err
    code, _, err = study("sensitivity", "-m", "jodie", "-o", "gamma=1")
    assert code == 2
    assert "gamma" in err
    for wrong in (0, "nan", "1e308"):
        code, _, err = study("solvers", "--epsilon", wrong)
        assert code == 2
        assert "expected a step size above 0" in err
    code, _, err = study("retention", "--events", 10**9)
    assert code == 2
    assert "10000" in err
    code, _, err = study("spectrum", "--vary", "model=ctan,jodie", "-o", "dim=4")
    assert code == 2
    assert "JODIE is no CTAN" in err
    code, _, err = study("reach", "--vary", "model=ctan,jodie", "-m", "tgat")
    assert code == 2
    assert "give one of them" in err
    for wrong in ("psi", "psi=", "psi=add,add"):
        code, _, err = study("spectrum", "--vary", wrong)
        assert code == 2
        assert "key=value,value" in err


def test_models_are_set_side_by_side(study, tmp_path):
    picture = tmp_path / "spectra.svg"
    asked = ("--vary", "gamma=0,0.5", "-o", "dim=6", "-o", "psi=add", "-o", "phi=mean")
    code, out, _ = study("spectrum", *asked, "--json", "--out", picture)
    assert code == 0
    found = json.loads(out)
    assert found["gamma=0"]["real parts of the field"] == pytest.approx([0, 0], abs=1e-5)
    assert found["gamma=0.5"]["real parts of the field"][0] > -0.5
    assert "<svg" in picture.read_text()
    _, out, _ = study("sensitivity", "--hops", 2, "--vary", "model=jodie,tgat", "-o", "dim=4")
    assert "jodie" in out
    assert "derivative" in out
    _, out, _ = study("reach", "--hops", 3, "--vary", "model=jodie,tgat", "-o", "dim=4", "--json")
    assert json.loads(out)["tgat"]["measured"] == [0, 0, -1, -1]


def test_solvers_are_told_by_their_closed_forms(study, tmp_path):
    picture = tmp_path / "solvers.pdf"
    _, out, _ = study("solvers", "--epsilon", 0.5, "--gamma", 0, "--json", "--out", picture)
    facts = json.loads(out)
    assert facts["euler"]["at one"] == pytest.approx(1.25**0.5)
    assert facts["rk4"]["stable up to"] == pytest.approx(2 * 8**0.5, abs=1e-3)
    assert picture.read_bytes().startswith(b"%PDF")

"""Tensors and facts in one file, whole or not at all, and never a pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ctan.errors import CheckpointError


def save_tensors(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write a safetensors file with ``facts`` as JSON in its header.

    The file is written beside its place, flushed to the disk and renamed: a crash leaves the old
    file or the new one.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, save(plain, metadata={"facts": json.dumps(facts)}))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what :func:`save_tensors` wrote.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: no such file; is this a run folder?") from error
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise CheckpointError(
            f"{path}: damaged, or not written by this library ({error}). Restore it from a copy, "
            "or start the run anew in another folder."
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by ``content``, or leave it as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def pack_optimiser(optimiser: torch.optim.Optimizer) -> tuple[dict[str, Tensor], list[Any]]:
    """An optimiser's state as flat tensors and plain facts."""
    saved = optimiser.state_dict()
    tensors = {
        f"{number}.{name}": value
        for number, values in saved["state"].items()
        for name, value in values.items()
    }
    return tensors, saved["param_groups"]


def unpack_optimiser(
    optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor], groups: list[Any]
) -> None:
    """Put back what :func:`pack_optimiser` took."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def prefixed(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors under ``prefix.name``."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names start with ``prefix.``, without it."""
    start = prefix + "."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}


def generators(device: torch.device) -> dict[str, torch.Tensor]:
    """The states of the random generators that a run on this device draws from."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_generators(device: torch.device, states: dict[str, torch.Tensor]) -> None:
    """Take them back to what :func:`generators` gave."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)

"""The contract that every model keeps, so that every task, protocol and report works with it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctan.models.batch import Events
from ctan.models.state import State
from ctan.models.view import Sees, View


@dataclass(frozen=True)
class Dims:
    """What a model must know of a stream before it sees any of it.

    Attributes:
        nodes: number of nodes.
        edge_dim: size of the event features, 0 if there are none.
        node_dim: size of the node features, 0 if there are none.
        start: the stream's first time, from which the first elapsed times count.
        elapsed_mean: mean time between a node's events, over the training split.
        elapsed_std: its population standard deviation (1 where that is 0).
        training_time: time from the first to the last training event.

    Example:
        >>> Dims(nodes=10, edge_dim=2).node_dim
        0
    """

    nodes: int
    edge_dim: int = 0
    node_dim: int = 0
    start: float | int = 0
    elapsed_mean: float = 0.0
    elapsed_std: float = 1.0
    training_time: float | int = 0

    def standardise(self, delta: Tensor) -> Tensor:
        """Elapsed time as a network sees it; subtracted in full precision, then narrowed."""
        scaled = (delta.to(torch.float64) - self.elapsed_mean) / self.elapsed_std
        return scaled.to(torch.get_default_dtype())


class NodeEncoder(nn.Module):
    """A model with one embedding per node: any number of pairs can be scored from them.

    The loop asks for what :attr:`sees` declares, hands it over as a :class:`View`, and the model
    sees nothing else. What it remembers is a :class:`State`, passed in and returned.
    """

    #: What must be seen of the past.
    sees: Sees
    #: Size of the embeddings.
    dim: int
    #: Whether the state matters: a model without memory sees any cut exactly.
    stateful: bool = True

    @abstractmethod
    def init_state(self, device: torch.device | str = "cpu") -> State:
        """The state before any event."""

    @abstractmethod
    def embed(self, state: State, view: View) -> Tensor:
        """Embeddings ``[asked, d]`` of the asked entries. Pure: ``state`` stays as it is."""

    @abstractmethod
    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """The state after ``events``. Owns the state that it is given.

        Args:
            state: the state before.
            events: what happened.
            view: what is visible; ``view.touched`` are the entries of ``events.touched``.
            z: ``embed(state, view)`` if it is known already.
        """

    def recall(self, state: State, view: View) -> Tensor:
        """Embeddings ``[asked, d]`` right after their events were observed.

        A model that stores embeddings reads them; others embed again.
        """
        return self.embed(state, view)

    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        """Embeddings of the sources and destinations of the asked pairs, ``[P, d]`` each."""
        z = self.embed(state, view)
        return z[view.src], z[view.dst]


class PairEncoder(nn.Module):
    """A model whose embedding of a node depends on the node it is paired with.

    As :class:`NodeEncoder`, but embeddings come pair by pair.
    """

    sees: Sees
    dim: int
    stateful: bool = True

    @abstractmethod
    def init_state(self, device: torch.device | str = "cpu") -> State:
        """The state before any event."""

    @abstractmethod
    def embed_pairs(self, state: State, view: View) -> tuple[Tensor, Tensor]:
        """Embeddings of the sources and destinations of the asked pairs, ``[P, d]`` each."""

    @abstractmethod
    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """The state after ``events``. Owns the state that it is given; ``z`` is not used."""


class PairScorer(nn.Module):
    """A model without weights, embeddings or memory: it scores pairs from their exact past.

    What it reads is ``view.past``, which ``Sees(contacts=True)`` asks for.
    """

    sees: Sees
    stateful: bool = False

    @abstractmethod
    def score(self, view: View) -> Tensor:
        """Scores ``[P, 1]`` of the asked pairs."""

    def init_state(self, device: torch.device | str = "cpu") -> State:
        """Nothing to remember."""
        return State()

    def observe(self, state: State, events: Events, view: View, z: Tensor | None = None) -> State:
        """Nothing to remember: the index knows the events."""
        return state


Model = NodeEncoder | PairEncoder | PairScorer

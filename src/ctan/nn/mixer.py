"""MLP-Mixer: tokens and channels mixed in turn by small networks (arXiv 2105.01601)."""

from __future__ import annotations

from torch import Tensor, nn

from ctan.nn.dropout import Dropout
from ctan.nn.linear import Linear


class MixerBlock(nn.Module):
    r"""One round of mixing: across tokens, then across channels (eq. of arXiv 2302.11636).

    .. math::
        H &\leftarrow H + W_2\, \mathrm{gelu}(W_1 \mathrm{norm}(H)) \\
        H &\leftarrow H + \mathrm{gelu}(\mathrm{norm}(H) W_3)\, W_4

    with :math:`W_1, W_2` over the K tokens (hidden size K/2) and :math:`W_3, W_4` over the d
    channels (hidden size 4d), each with a bias.

    Args:
        tokens: number of tokens K.
        dim: number of channels d.
        dropout: share of hidden and output units dropped while training.

    Shapes:
        - ``h``: ``[*, K, d]``
        - output: ``[*, K, d]``

    Example:
        >>> import torch
        >>> MixerBlock(tokens=5, dim=8)(torch.zeros(3, 5, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(self, tokens: int, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.token_norm, self.channel_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mix_tokens = _two_layers(tokens, max(1, tokens // 2), dropout)
        self.mix_channels = _two_layers(dim, 4 * dim, dropout)

    def forward(self, h: Tensor) -> Tensor:
        """Mix ``h``."""
        h = h + self.mix_tokens(self.token_norm(h).mT).mT
        mixed: Tensor = h + self.mix_channels(self.channel_norm(h))
        return mixed


def _two_layers(size: int, hidden: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        Linear(size, hidden),
        nn.GELU(),
        Dropout(dropout),
        Linear(hidden, size),
        Dropout(dropout),
    )


class Mixer(nn.Module):
    """Blocks of mixing, a norm, and the mean over the tokens.

    Args:
        tokens: number of tokens K.
        dim: number of channels d.
        layers: number of blocks.
        dropout: as in :class:`MixerBlock`.

    Shapes:
        - ``h``: ``[*, K, d]``
        - output: ``[*, d]``

    Example:
        >>> import torch
        >>> Mixer(tokens=5, dim=8, layers=2)(torch.zeros(3, 5, 8)).shape
        torch.Size([3, 8])
    """

    def __init__(self, tokens: int, dim: int, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*(MixerBlock(tokens, dim, dropout) for _ in range(layers)))
        self.norm = nn.LayerNorm(dim)

    def forward(self, h: Tensor) -> Tensor:
        """Mix ``h`` and average its tokens."""
        mean: Tensor = self.norm(self.blocks(h)).mean(-2)
        return mean

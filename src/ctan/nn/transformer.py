"""A transformer block whose memory may be another sequence, and may be prepared beforehand."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from ctan.errors import CtanError
from ctan.nn import kernels
from ctan.nn.dropout import Dropout
from ctan.nn.linear import Linear


class TransformerBlock(nn.Module):
    r"""Multi-head attention, then two layers, each added to what it reads a norm of.

    .. math::
        H &\leftarrow H + \mathrm{softmax}\Bigl(\frac{(\mathrm{norm}(H) W_Q)
            (\mathrm{norm}(M) W_K)^\top}{\sqrt{d / heads}}\Bigr)\, \mathrm{norm}(M) W_V W_O \\
        H &\leftarrow H + \mathrm{gelu}(\mathrm{norm}(H) W_1)\, W_2

    (eq. 5 to 7 of arXiv 2303.13047), with the memory :math:`M = H` for self-attention. Absent
    tokens of the memory are never attended to; at least one must be present.

    Args:
        dim: size d of the tokens, divisible by ``heads``.
        heads: attention heads, concatenated.
        dropout: share of attention weights, hidden and output units dropped while training.

    Example:
        >>> import torch
        >>> block = TransformerBlock(8, heads=2)
        >>> tokens, present = torch.ones(3, 5, 8), torch.ones(3, 5, dtype=torch.bool)
        >>> block(tokens, block.remember(tokens), present).shape
        torch.Size([3, 5, 8])
    """

    def __init__(self, dim: int, heads: int = 2, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads:
            raise CtanError(
                f"a transformer of width {dim} with {heads} heads: the width must be divisible by "
                "the heads. Choose another dim, or other heads."
            )
        self.dim, self.heads, self.dropout = dim, heads, dropout
        self.attention_norm, self.hidden_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.query, self.value = Linear(dim, dim), Linear(dim, dim)
        self.key = Linear(dim, dim, bias=False)  # a bias would cancel in the softmax
        self.out = Linear(dim, dim)
        self.hidden = nn.Sequential(
            Linear(dim, 4 * dim), nn.GELU(), Dropout(dropout), Linear(4 * dim, dim)
        )

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of ``memory [B, S, d]``, ``[B, heads, S, d / heads]`` each."""
        memory = self.attention_norm(memory)
        return self._per_head(self.key(memory)), self._per_head(self.value(memory))

    def forward(self, h: Tensor, memory: tuple[Tensor, Tensor], present: Tensor) -> Tensor:
        """Let ``h [B, T, d]`` attend to a memory of which ``present [B, S]`` tokens are there."""
        query = self._per_head(self.query(self.attention_norm(h)))
        told = F.scaled_dot_product_attention(
            query,
            *memory,
            attn_mask=present[:, None, None, :],
            dropout_p=self.dropout if self.training else 0.0,
        )
        h = h + self._drop(self.out(told.transpose(1, 2).flatten(-2)))
        return h + self._drop(self.hidden(self.hidden_norm(h)))

    def _per_head(self, h: Tensor) -> Tensor:
        return h.view(*h.shape[:2], self.heads, -1).transpose(1, 2)

    def _drop(self, h: Tensor) -> Tensor:
        return kernels.dropout(h, self.dropout, self.training)

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return f"dim={self.dim}, heads={self.heads}, dropout={self.dropout}"

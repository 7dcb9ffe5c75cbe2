"""Mixer, transformer and co-occurrence layers against torch's own and against loops."""

import pytest
import torch
from torch import nn

from ctan.errors import CtanError
from ctan.nn import CooccurrenceEncoding, MixerBlock, TransformerBlock


def torch_layer(block):
    """Torch's encoder layer with the weights of a block."""
    layer = nn.TransformerEncoderLayer(
        block.dim, block.heads, 4 * block.dim, 0.0, "gelu", batch_first=True, norm_first=True
    )
    layer.norm1, layer.norm2 = block.attention_norm, block.hidden_norm
    layer.linear1, layer.linear2 = block.hidden[0], block.hidden[3]
    attention = layer.self_attn
    attention.in_proj_weight = nn.Parameter(
        torch.cat([part.weight for part in (block.query, block.key, block.value)])
    )
    # Any bias of the key: it moves all scores of a query alike.
    biases = [block.query.bias, torch.randn(block.dim), block.value.bias]
    attention.in_proj_bias = nn.Parameter(torch.cat(biases))
    attention.out_proj.weight, attention.out_proj.bias = block.out.weight, block.out.bias
    return layer


def test_self_attention_equals_that_of_torch(float64):
    torch.manual_seed(0)
    block = TransformerBlock(8, heads=2)
    h, present = torch.randn(5, 7, 8), torch.rand(5, 7) < 0.6
    present[:, 0] = True
    own = block(h, block.remember(h), present)
    expected = torch_layer(block)(h, src_key_padding_mask=~present)
    torch.testing.assert_close(own[present], expected[present])


def test_attention_to_another_sequence_is_one_query_at_a_time(float64):
    torch.manual_seed(0)
    block = TransformerBlock(6, heads=3)
    h, memory = torch.randn(4, 1, 6), torch.randn(4, 5, 6)
    present = torch.arange(5) < torch.tensor([1, 5, 3, 2])[:, None]
    own = block(h, block.remember(memory), present)
    for row in range(4):
        there = block.attention_norm(memory[row, present[row]])
        query = block.query(block.attention_norm(h[row, 0])).view(3, 2)
        told = []
        for head in range(3):
            part = slice(2 * head, 2 * head + 2)
            alpha = torch.softmax(block.key(there)[:, part] @ query[head] / 2**0.5, 0)
            told.append(alpha @ block.value(there)[:, part])
        z = h[row, 0] + block.out(torch.cat(told))
        torch.testing.assert_close(own[row, 0], z + block.hidden(block.hidden_norm(z)))


def test_heads_must_share_the_width():
    with pytest.raises(CtanError, match="width 9 with 2 heads"):
        TransformerBlock(9, heads=2)


@pytest.mark.parametrize("patch", [1, 3])
def test_counts_are_encoded_place_by_place(patch, float64):
    torch.manual_seed(0)
    encode = CooccurrenceEncoding(dim=4, patch=patch)
    counts = torch.randint(0, 6, (5, 6, 2))
    out = encode(counts, most=5)
    for row in range(5):
        each = [encode.encode(c[:1].double()) + encode.encode(c[1:].double()) for c in counts[row]]
        patches = [torch.cat(each[i : i + patch]) for i in range(0, 6, patch)]
        torch.testing.assert_close(out[row], encode.project(torch.stack(patches)))


def test_a_single_token_is_mixed():
    assert MixerBlock(tokens=1, dim=4)(torch.ones(2, 1, 4)).shape == (2, 1, 4)

"""The transformer block as a PyTorch module, for the notebooks that compare with one."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


class Block(nn.Module):
    """A pre-norm transformer block: attention and a feed-forward network, each with a residual connection.

    Attention and FFN: Vaswani et al., 2017. LayerNorm: Ba et al., 2016; in front of the sublayers: Xiong et al., 2020.

    Args:
        d, f: widths of the model and of the feed-forward network.
        h, k, v: the number of heads, and the widths of a key and of a value in each.
        eps: what LayerNorm adds to a variance.
        dropout: the share of each sublayer's output that is set to zero, at random, in training.
    """

    def __init__(self, d: int, h: int, k: int, v: int, f: int, eps: float = 1e-5, dropout: float = 0.1) -> None:
        super().__init__()
        self.h = h
        self.norm_before_attention = nn.LayerNorm(d, eps=eps)
        self.query = nn.Linear(d, h * k, bias=False)
        self.key = nn.Linear(d, h * k, bias=False)
        self.value = nn.Linear(d, h * v, bias=False)
        self.output = nn.Linear(h * v, d, bias=False)
        self.norm_before_ffn = nn.LayerNorm(d, eps=eps)
        self.widen = nn.Linear(d, f)
        self.narrow = nn.Linear(f, d)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X: Float[Tensor, "b n d"], keep: Bool[Tensor, "*#bh n n"]) -> Float[Tensor, "b n d"]:
        T3 = X + self.dropout(self.attend(self.norm_before_attention(X), keep))
        return T3 + self.dropout(self.narrow(torch.relu(self.widen(self.norm_before_ffn(T3)))))

    def attend(self, T: Float[Tensor, "b n d"], keep: Bool[Tensor, "*#bh n n"]) -> Float[Tensor, "b n d"]:
        """Attention, one head after the other: easy to read rather than fast."""
        b, n, _ = T.shape
        heads = []
        for head, mask in enumerate(keep.expand(b, self.h, n, n).unbind(dim=1)):
            q, k, v = (part(T).chunk(self.h, dim=-1)[head] for part in (self.query, self.key, self.value))
            scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
            weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).masked_fill(~mask, 0)
            heads.append(weights @ v)
        return self.output(torch.cat(heads, dim=-1))

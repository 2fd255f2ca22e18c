"""The whole transformer block, and what stands before and after a stack of them."""

EXERCISES = ("layer_norm", "ffn", "block", "stack", "embed", "unembed", "next_token_loss")

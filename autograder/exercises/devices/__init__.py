"""One model on several devices."""

EXERCISES = ("column_shards", "row_shards", "mlp_tp", "mha_tp")

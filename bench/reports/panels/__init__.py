"""One file a panel: each turns a Comparison into blocks that answer one question of the reader."""

"""How `nano` is made: tokenizer, transformer, training. Needs the extra `train` (torch); answering does not."""

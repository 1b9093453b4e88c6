"""How `nano` is made: chats in the form of the papers' prompts, a tokenizer, a transformer, its training.

Needs the extra `train` (torch); what `nano` answers with does not (codestress.nano.engine).
"""

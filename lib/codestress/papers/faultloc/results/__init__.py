"""Tables of Fault Localizability's figures, with the paper's own numbers beside the
regenerated numbers."""

"""Tables behind Sense and Sensitivity's figures, with the paper's own numbers beside the
regenerated ones."""

"""CodeCrash: tables behind its figures, with the paper's published numbers beside the regenerated
ones."""

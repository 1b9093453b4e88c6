"""CodeCrash's perturbations: programs rewritten to the same meaning, and misleading messages and
hints."""

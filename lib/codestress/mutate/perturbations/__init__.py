"""CodeCrash's perturbations: programs rewritten to the same meaning, misleading
messages and misleading hints."""

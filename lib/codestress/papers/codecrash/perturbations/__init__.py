"""CodeCrash's perturbations: programs rewritten to the same meaning, and messages and hints that lie about them."""

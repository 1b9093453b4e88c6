"""CodeCrash: programs rewritten to the same meaning, and programs whose comments lie."""

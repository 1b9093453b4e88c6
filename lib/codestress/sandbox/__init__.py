"""Programs of strangers, run in isolated workers.

Its own layer, below problems: generators, perturbations, engines and scorers all run programs.
"""

"""The sandbox: untrusted programs run in isolated workers.

The sandbox is a layer below problems, because generators, perturbations, engines and
scorers all run programs.
"""

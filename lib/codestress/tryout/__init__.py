"""`codestress try MODEL`: each paper's main experiment on any model, as much of it as fits in some minutes."""

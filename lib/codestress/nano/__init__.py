"""`nano`, the small transformer that comes with the kit: its weights, and a forward pass without
torch."""

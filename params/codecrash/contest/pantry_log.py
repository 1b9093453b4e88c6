class Pantry:

    def __init__(self, capacity):
        self.capacity = capacity
        self.uses = {}

    @property
    def full(self):
        return len(self.uses) >= self.capacity

    def take(self, item):
        evicted = None
        if item not in self.uses and self.full:
            evicted = min(self.uses, key=lambda name: (self.uses[name], name))
            self.uses.pop(evicted)
        self.uses[item] = self.uses.get(item, 0) + len(item)
        return evicted

def pantryLog(capacity, requests):
    pantry = Pantry(capacity)
    log = [pantry.take(item) for item in requests]
    return [log, sorted(pantry.uses)]

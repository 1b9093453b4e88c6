class Pantry {
  constructor(capacity) {
    this.capacity = capacity;
    this.uses = new Map();
  }

  get full() {
    return this.uses.size >= this.capacity;
  }

  leastUsed() {
    let chosen = null;
    for (const name of [...this.uses.keys()].sort()) {
      if (chosen === null || this.uses.get(name) < this.uses.get(chosen)) {
        chosen = name;
      }
    }
    return chosen;
  }

  take(item) {
    let evicted = null;
    if (!this.uses.has(item) && this.full) {
      evicted = this.leastUsed();
      this.uses.delete(evicted);
    }
    this.uses.set(item, (this.uses.get(item) ?? 0) + item.length);
    return evicted;
  }
}

function pantryLog(capacity, requests) {
  const pantry = new Pantry(capacity);
  const log = requests.map((item) => pantry.take(item));
  return [log, [...pantry.uses.keys()].sort()];
}

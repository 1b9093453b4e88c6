function pushSorted(heap, entry) {
  heap.push(entry);
  heap.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

function cheapestCharge(prices, roads, battery) {
  const goal = prices.length - 1;
  const heap = [[0, 0, 0]];
  const done = new Set();
  while (heap.length > 0) {
    const [cost, town, power] = heap.shift();
    if (town === goal) {
      return [cost, power];
    }
    const state = `${town},${power}`;
    if (done.has(state)) {
      continue;
    }
    done.add(state);
    if (power < battery) {
      pushSorted(heap, [cost + prices[town], town, power + 1]);
    }
    for (const [source, target, need] of roads) {
      if (source === town && need <= power) {
        pushSorted(heap, [cost, target, Math.min(battery, power - need)]);
      }
    }
  }
  return [-1, done.size];
}

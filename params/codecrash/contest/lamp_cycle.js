function spinLamps(lamps, width) {
  const full = (1 << width) - 1;
  return ((lamps << 1) | (lamps >> (width - 1))) & full;
}

function countOnes(value) {
  return value.toString(2).split("1").length - 1;
}

function lampCycle(width, lamps, key) {
  const seen = new Map();
  let rounds = 0;
  while (!seen.has(lamps)) {
    seen.set(lamps, rounds);
    const spun = spinLamps(lamps, width);
    lamps = countOnes(spun) % 2 === 1 ? spun ^ key : spun & ~1;
    rounds++;
  }
  return [seen.get(lamps), rounds - seen.get(lamps), Math.max(...seen.keys())];
}

function cheapestSplit(text, fee) {
  const memo = new Map();

  function price(start) {
    if (start === text.length) {
      return 0;
    }
    if (memo.has(start)) {
      return memo.get(start);
    }
    let best = Infinity;
    for (let end = start + 1; end <= text.length; end++) {
      const distinct = new Set(text.slice(start, end).toLowerCase()).size;
      best = Math.min(best, fee + distinct ** 2 + price(end));
    }
    memo.set(start, best);
    return best;
  }

  return Array.from(text, (letter, start) => price(start));
}

function largestPatches(rows) {
  const seen = new Set();
  const best = new Map();
  const width = rows[0].length;
  let size = 0;

  function flood(row, col, letter) {
    const inside = row >= 0 && row < rows.length && col >= 0 && col < width;
    const key = row * width + col;
    if (inside && !seen.has(key) && rows[row][col] === letter) {
      seen.add(key);
      size += 1;
      flood(row, col + 1, letter);
      flood(row + 1, col, letter);
      flood(row, col - 1, letter);
      flood(row - 1, col, letter);
    }
  }

  for (let row = 0; row < rows.length; row++) {
    for (let col = 0; col < width; col++) {
      const letter = rows[row][col];
      size = 0;
      flood(row, col, letter);
      best.set(letter, Math.max(best.get(letter) ?? 0, size));
    }
  }
  return [...best.keys()].sort().map((letter) => `${letter}${best.get(letter)}`);
}

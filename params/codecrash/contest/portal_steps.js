function portalSteps(grid, start, goal) {
  const twins = new Map();
  for (let r = 0; r < grid.length; r++) {
    for (let c = 0; c < grid[r].length; c++) {
      const cell = grid[r][c];
      if (!".#".includes(cell)) {
        if (!twins.has(cell)) {
          twins.set(cell, []);
        }
        twins.get(cell).push([r, c]);
      }
    }
  }
  const queue = [[start, 0]];
  const seen = new Set([`${start[0]},${start[1]}`]);
  while (queue.length > 0) {
    const [[r, c], steps] = queue.shift();
    if (r === goal[0] && c === goal[1]) {
      return steps;
    }
    const options = [[r + 1, c], [r - 1, c], [r, c + 1], [r, c - 1]];
    options.push(...(twins.get(grid[r][c]) ?? []));
    for (const [y, x] of options) {
      if (!(y >= 0 && y < grid.length && x >= 0 && x < grid[0].length)) {
        continue;
      }
      const key = `${y},${x}`;
      if (grid[y][x] !== "#" && !seen.has(key)) {
        seen.add(key);
        queue.push([[y, x], steps + 1]);
      }
    }
  }
  return -seen.size;
}

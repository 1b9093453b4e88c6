class SummedGrid {
  constructor(grid) {
    const width = grid[0].length;
    this.table = [new Array(width + 1).fill(0)];
    for (const line of grid) {
      const above = this.table[this.table.length - 1];
      const sums = [0];
      let total = 0;
      for (let col = 0; col < width; col++) {
        total += line[col];
        sums.push(total + above[col + 1]);
      }
      this.table.push(sums);
    }
  }

  square(row, col, size) {
    const top = this.table[row];
    const bottom = this.table[row + size];
    return bottom[col + size] - bottom[col] - top[col + size] + top[col];
  }
}

function heaviestSquare(grid, size) {
  const summed = new SummedGrid(grid);
  let best = null;
  for (let row = 0; row + size <= grid.length; row++) {
    for (let col = 0; col + size <= grid[0].length; col++) {
      const total = summed.square(row, col, size);
      if (best === null || total > best[0]) {
        best = [total, row, col];
      }
    }
  }
  return best;
}

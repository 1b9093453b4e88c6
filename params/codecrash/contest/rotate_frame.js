function framePath(height, width) {
  const path = [];
  for (let col = 0; col < width; col++) {
    path.push([0, col]);
  }
  for (let row = 1; row < height; row++) {
    path.push([row, width - 1]);
  }
  for (let col = width - 2; col >= 0; col--) {
    path.push([height - 1, col]);
  }
  for (let row = height - 2; row > 0; row--) {
    path.push([row, 0]);
  }
  return path;
}

function rotateFrame(grid, steps) {
  const path = framePath(grid.length, grid[0].length);
  const size = path.length;
  const values = path.map((cell) => grid[cell[0]][cell[1]]);
  const result = grid.map((line) => line.slice());
  path.forEach((cell, index) => {
    const source = (((index - steps) % size) + size) % size;
    result[cell[0]][cell[1]] = values[source];
  });
  return result;
}

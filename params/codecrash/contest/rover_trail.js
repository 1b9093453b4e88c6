function roverTrail(grid, commands) {
  const rows = grid.map((line) => line.split(""));
  const headings = [[-1, 0], [0, 1], [1, 0], [0, -1]];
  let r = 0;
  let c = 0;
  let face = 1;
  let bumps = 0;
  function ahead() {
    const [dr, dc] = headings[face];
    const height = rows.length;
    const width = rows[0].length;
    return [(r + dr + height) % height, (c + dc + width) % width];
  }
  for (const command of commands) {
    if (command === "L") {
      face = (face + 3) % 4;
    } else if (command === "R") {
      face = (face + 1) % 4;
    } else {
      const [y, x] = ahead();
      if (rows[y][x] === "#") {
        rows[y][x] = "%";
        face = (face + 2) % 4;
        bumps++;
      } else {
        rows[r][c] = rows[r][c] === "." ? "+" : "*";
        r = y;
        c = x;
      }
    }
  }
  rows[r][c] = "NESW"[face];
  return [...rows.map((line) => line.join("")), bumps];
}

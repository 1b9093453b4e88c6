function cascadeTiles(rows, least) {
  const height = rows.length;
  const width = rows[0].length;
  function gather(r, c, color, group) {
    const inside = r >= 0 && r < height && c >= 0 && c < width;
    if (inside && !group.has(r * width + c) && rows[r][c] === color) {
      group.add(r * width + c);
      gather(r + 1, c, color, group);
      gather(r - 1, c, color, group);
      gather(r, c + 1, color, group);
      gather(r, c - 1, color, group);
    }
    return group;
  }
  const doomed = new Set();
  for (let r = 0; r < height; r++) {
    for (let c = 0; c < width; c++) {
      if (rows[r][c] === ".") {
        doomed.add(r * width + c);
      } else if (!doomed.has(r * width + c)) {
        const group = gather(r, c, rows[r][c], new Set());
        if (group.size >= least) {
          group.forEach((cell) => doomed.add(cell));
        }
      }
    }
  }
  const columns = [];
  for (let c = 0; c < width; c++) {
    const column = [];
    for (let r = 0; r < height; r++) {
      if (!doomed.has(r * width + c)) {
        column.push(rows[r][c]);
      }
    }
    columns.push([...new Array(height - column.length).fill("."), ...column]);
  }
  return rows.map((_, r) => columns.map((column) => column[r]).join(""));
}

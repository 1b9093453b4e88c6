function lanternPatterns(length, gap, colors, wanted) {
  const rows = [];
  const current = [];
  function place(index, wait, last, left) {
    if (left > length - index) {
      return;
    }
    if (index === length) {
      rows.push(current.join(""));
      return;
    }
    current.push(".");
    place(index + 1, wait - 1, last, left);
    current.pop();
    if (wait <= 0 && left > 0) {
      for (const color of colors) {
        if (color !== last) {
          current.push(color);
          place(index + 1, gap, color, left - 1);
          current.pop();
        }
      }
    }
  }
  place(0, 0, "", wanted);
  rows.sort();
  return rows;
}

function bestLaneScore(lanes, switchCost, patience) {
  const width = lanes[0].length;
  const memo = new Map();
  function walk(col, lane, stay) {
    const gain = lanes[lane][col];
    if (col + 1 === width) {
      return gain;
    }
    const key = `${col},${lane},${stay}`;
    if (memo.has(key)) {
      return memo.get(key);
    }
    const options = [];
    for (let target = 0; target < lanes.length; target++) {
      if (target === lane && stay < patience) {
        options.push(walk(col + 1, lane, stay + 1));
      } else if (target !== lane) {
        options.push(walk(col + 1, target, 1) - switchCost * Math.abs(target - lane));
      }
    }
    const result = gain + Math.max(...options);
    memo.set(key, result);
    return result;
  }
  return Math.max(...lanes.map((_, lane) => walk(0, lane, 1)));
}

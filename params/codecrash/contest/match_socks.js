function matchSocks(left, right, tolerance) {
  const lefts = [...left].sort((a, b) => a - b);
  const rights = [...right].sort((a, b) => a - b);
  const pairs = [];
  const lonely = [];
  let i = 0;
  let j = 0;
  while (i < lefts.length && j < rights.length) {
    const gap = lefts[i] - rights[j];
    if (Math.abs(gap) <= tolerance) {
      pairs.push([lefts[i], rights[j]]);
      i += 1;
      j += 1;
    } else if (gap < 0) {
      lonely.push(lefts[i]);
      i += 1;
    } else {
      lonely.push(rights[j]);
      j += 1;
    }
  }
  lonely.push(...lefts.slice(i));
  lonely.push(...rights.slice(j));
  return [pairs, lonely];
}

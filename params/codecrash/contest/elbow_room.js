function lowerBound(values, target) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (values[middle] < target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function elbowRoom(seats, span) {
  const taken = [];

  function room(seat, at) {
    const before = at > 0 ? seat - taken[at - 1] : span;
    const after = at < taken.length ? taken[at] - seat : span;
    return Math.min(before, after, span);
  }

  const report = [];
  for (const seat of seats) {
    const at = lowerBound(taken, seat);
    report.push(room(seat, at) * 10 + at);
    taken.splice(at, 0, seat);
  }
  return report;
}

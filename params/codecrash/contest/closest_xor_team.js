function* combinations(items, size, from = 0) {
  if (size === 0) {
    yield [];
    return;
  }
  for (let i = from; i <= items.length - size; i++) {
    for (const rest of combinations(items, size - 1, i + 1)) {
      yield [items[i], ...rest];
    }
  }
}

function closestXorTeam(badges, size, target) {
  let record = null;
  let winner = [];
  for (const team of combinations(badges, size)) {
    const mix = team.reduce((a, b) => a ^ b);
    const distance = Math.abs(mix - target);
    if (record === null || distance < record) {
      record = distance;
      winner = [...team, mix];
    }
  }
  return winner;
}

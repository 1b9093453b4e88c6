function coinRowDuel(coins, bonus) {
  const memo = new Map();
  function lead(left, right) {
    if (left > right) {
      return 0;
    }
    const key = `${left},${right}`;
    if (memo.has(key)) {
      return memo.get(key);
    }
    const choices = [coins[left] - lead(left + 1, right)];
    if (left < right) {
      const pair = coins[right] + coins[right - 1];
      choices.push(pair - lead(left, right - 2));
      if (coins[left] === coins[right]) {
        choices.push(2 * coins[left] + bonus - lead(left + 1, right - 1));
      }
    }
    const best = Math.max(...choices);
    memo.set(key, best);
    return best;
  }
  const margin = lead(0, coins.length - 1);
  const winner = margin > 0 ? "first" : margin < 0 ? "second" : "nobody";
  return `${winner} by ${Math.abs(margin)}`;
}

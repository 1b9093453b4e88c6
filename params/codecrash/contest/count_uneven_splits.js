function countUnevenSplits(word, longest) {
  const memo = new Map();
  function count(start, previous) {
    if (start === word.length) {
      return 1;
    }
    const key = `${start},${previous}`;
    if (memo.has(key)) {
      return memo.get(key);
    }
    let total = 0;
    for (let size = 1; size <= longest; size++) {
      const end = start + size;
      if (end > word.length) {
        break;
      }
      if (size !== previous && (word[start] === word[end - 1] || size % 2 === 0)) {
        total += count(end, size);
      }
    }
    memo.set(key, total);
    return total;
  }
  return count(0, 0);
}

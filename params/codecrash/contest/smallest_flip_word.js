function flipWindow(word, start, window) {
  const end = start + window;
  const middle = word.slice(start, end).split("").reverse().join("");
  return word.slice(0, start) + middle + word.slice(end);
}

function smallestFlipWord(word, window, flips) {
  const seen = new Set([word]);
  let frontier = [word];
  for (let round = 0; round < flips; round++) {
    const reached = new Set();
    for (const item of frontier) {
      for (let start = 0; start + window <= word.length; start++) {
        reached.add(flipWindow(item, start, window));
      }
    }
    frontier = [...reached].filter((item) => !seen.has(item));
    frontier.forEach((item) => seen.add(item));
  }
  const smallest = [...seen].reduce((a, b) => (b < a ? b : a));
  return `${smallest} of ${seen.size}`;
}

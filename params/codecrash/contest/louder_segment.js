function swapCase(text) {
  let result = "";
  for (const letter of text) {
    const upper = letter.toUpperCase();
    result += letter === upper ? letter.toLowerCase() : upper;
  }
  return result;
}

function louderSegment(text, maxVowels) {
  const seen = new Map();
  let best = "";
  let left = 0;
  for (let right = 0; right < text.length; right++) {
    const letter = text[right].toLowerCase();
    if ("aeiou".includes(letter)) {
      seen.set(letter, (seen.get(letter) ?? 0) + 1);
    }
    while (seen.size > maxVowels) {
      const first = text[left].toLowerCase();
      if (seen.has(first)) {
        seen.set(first, seen.get(first) - 1);
        if (seen.get(first) === 0) {
          seen.delete(first);
        }
      }
      left += 1;
    }
    if (right - left + 1 > best.length) {
      best = text.slice(left, right + 1);
    }
  }
  return swapCase(best);
}

function mirrorRepair(text, budget) {
  const letters = text.split("");

  function mend(left, right) {
    const cost = text.charCodeAt(left) - text.charCodeAt(right);
    const smaller = cost < 0 ? text[left] : text[right];
    letters[left] = smaller;
    letters[right] = smaller;
    return Math.abs(cost);
  }

  let remaining = budget;
  let left = 0;
  let right = text.length - 1;
  while (left < right) {
    if (text[left] !== text[right]) {
      remaining -= mend(left, right);
      if (remaining < 0) {
        return `stuck at ${left} short ${-remaining}`;
      }
    }
    left += 1;
    right -= 1;
  }
  return letters.join("") + String(remaining);
}

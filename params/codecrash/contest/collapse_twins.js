function untilStable(step) {
  return function repeat(text) {
    let current = text;
    let changed = step(current);
    while (changed !== current) {
      current = changed;
      changed = step(current);
    }
    return current;
  };
}

function tumbleOnce(text) {
  const pieces = [];
  for (const letter of text) {
    const last = pieces.length - 1;
    if (last >= 0 && pieces[last] === letter) {
      pieces[last] = String.fromCharCode(((letter.charCodeAt(0) - 96) % 26) + 97);
    } else {
      pieces.push(letter);
    }
  }
  return pieces.join("");
}

const tumble = untilStable(tumbleOnce);

function collapseTwins(words) {
  return words.map((word) => tumble(word.toLowerCase()));
}

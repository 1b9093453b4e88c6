function unfoldRhyme(text) {
  let spot = 0;
  function read() {
    const pieces = [];
    while (spot < text.length && text[spot] !== ")") {
      const mark = text[spot];
      spot++;
      if (mark >= "0" && mark <= "9") {
        spot++;
        const inner = read();
        spot++;
        for (let turn = 0; turn < Number(mark); turn++) {
          pieces.push(turn % 2 === 0 ? inner : inner.split("").reverse().join(""));
        }
      } else if (mark === "^" && pieces.length > 0) {
        pieces.push(pieces.pop().toUpperCase());
      } else {
        pieces.push(mark);
      }
    }
    return pieces.join("");
  }
  return read();
}

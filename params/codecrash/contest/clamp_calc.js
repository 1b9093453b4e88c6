const TIERS = ["<>", "+-", "*"];

const APPLY = {
  "<": (a, b) => Math.min(a, b),
  ">": (a, b) => Math.max(a, b),
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
};

class Reader {
  constructor(text) {
    this.text = text.replaceAll(" ", "");
    this.spot = 0;
  }

  take() {
    this.spot++;
    return this.text.slice(this.spot - 1, this.spot);
  }

  level(depth) {
    if (depth === TIERS.length) {
      return this.atom();
    }
    let value = this.level(depth + 1);
    let sign = this.take();
    while (sign && TIERS[depth].includes(sign)) {
      value = APPLY[sign](value, this.level(depth + 1));
      sign = this.take();
    }
    this.spot--;
    return value;
  }

  atom() {
    const mark = this.take();
    if (mark !== "(") {
      return Number(mark);
    }
    const value = this.level(0);
    this.take();
    return value;
  }
}

function clampCalc(text) {
  return new Reader(text).level(0);
}

const ACTIONS = new Map([
  ["+", (a, b) => a + b],
  ["-", (a, b) => a - b],
  ["*", (a, b) => a * b],
  ["max", (a, b) => Math.max(a, b)],
]);

function popChecked(stack) {
  if (stack.length === 0) {
    throw new RangeError("empty stack");
  }
  return stack.pop();
}

function parseChecked(token) {
  const value = Number(token);
  if (!Number.isInteger(value)) {
    throw new TypeError("not a number");
  }
  return value;
}

function runTape(tape) {
  const stack = [];
  const faults = [];
  tape.split(" ").forEach((token, position) => {
    try {
      if (ACTIONS.has(token)) {
        const second = popChecked(stack);
        const first = popChecked(stack);
        const action = ACTIONS.get(token);
        stack.push(action(first, second));
      } else {
        stack.push(parseChecked(token));
      }
    } catch (error) {
      faults.push(position);
    }
  });
  return [stack, faults];
}

function stackMachine(program, modulus) {
  const stack = [];
  function push(...values) {
    stack.push(...values.map((value) => ((value % modulus) + modulus) % modulus));
  }
  for (const token of program.toLowerCase().split(/\s+/)) {
    const number = Number(token);
    if (!Number.isNaN(number)) {
      push(number);
      continue;
    }
    const top = stack.pop() ?? 1;
    const under = stack.pop() ?? 0;
    if (token === "swap") {
      push(top, under);
    } else if (token === "over") {
      push(under, top, under);
    } else if (token === "add") {
      push(under + top);
    } else if (token === "mul") {
      push(under * top);
    } else {
      push(under - top);
    }
  }
  return stack;
}

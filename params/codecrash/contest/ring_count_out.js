function capitalize(word) {
  return word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();
}

function ringCountOut(names, skips) {
  const after = names.map((_, i) => (i + 1) % names.length);
  let before = names.length - 1;
  const order = [];
  let turn = 0;
  while (order.length < names.length) {
    for (let i = 0; i < skips[turn % skips.length]; i++) {
      before = after[before];
    }
    const out = after[before];
    after[before] = after[out];
    order.push(names[out]);
    turn += names[out].length;
  }
  const winner = order.pop();
  order.reverse();
  order.unshift(capitalize(winner));
  return order;
}

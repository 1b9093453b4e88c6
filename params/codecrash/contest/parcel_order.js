function parcelOrder(names, passes) {
  let circle = [...names];
  const leaving = [];
  while (circle.length > 1) {
    const hops = passes[leaving.length % passes.length] % circle.length;
    circle = [...circle.slice(hops), ...circle.slice(0, hops)];
    leaving.push(circle.shift());
    if (leaving.length % 3 === 0) {
      circle.reverse();
    }
  }
  return [...leaving, ...circle];
}

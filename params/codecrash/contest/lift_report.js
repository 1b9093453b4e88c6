function liftReport(floors) {
  const report = [];
  let index = 1;
  while (index < floors.length) {
    const sign = Math.sign(floors[index] - floors[index - 1]);
    let count = 0;
    let distance = 0;
    while (index < floors.length && Math.sign(floors[index] - floors[index - 1]) === sign) {
      distance += Math.abs(floors[index] - floors[index - 1]);
      count += 1;
      index += 1;
    }
    let name = "wait";
    if (sign > 0) {
      name = "up";
    } else if (sign < 0) {
      name = "down";
    }
    report.push(`${name}${count}:${distance}`);
  }
  return report.join(" ");
}

function zigzagKeep(nums) {
  const [first, ...rest] = nums;
  const kept = [first];
  let direction = 0;
  for (const num of rest) {
    const step = Math.sign(num - kept[kept.length - 1]);
    if (step === 0) {
      continue;
    }
    if (step === direction) {
      kept[kept.length - 1] = num;
    } else {
      kept.push(num);
    }
    direction = step;
  }
  return kept;
}

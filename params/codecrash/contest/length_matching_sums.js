function lengthMatchingSums(nums, modulus) {
  const first = new Map([[0, 0]]);
  const tally = new Map([[0, 1]]);
  let count = 0;
  let longest = 0;
  let total = 0;
  for (let index = 1; index <= nums.length; index++) {
    total += nums[index - 1] - 1;
    const key = ((total % modulus) + modulus) % modulus;
    const earlier = tally.get(key) ?? 0;
    count += earlier;
    tally.set(key, earlier + 1);
    if (!first.has(key)) {
      first.set(key, index);
    }
    longest = Math.max(longest, index - first.get(key));
  }
  return [count, longest];
}

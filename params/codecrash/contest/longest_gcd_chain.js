function gcd(a, b) {
  while (b !== 0) {
    [a, b] = [b, a % b];
  }
  return a;
}

function longestGcdChain(nums, least) {
  const best = [];
  for (let i = 0; i < nums.length; i++) {
    let chain = [nums[i]];
    for (let j = 0; j < i; j++) {
      const shared = gcd(nums[j], nums[i]);
      if (least <= shared && shared < nums[i] && best[j].length >= chain.length) {
        chain = [...best[j], nums[i]];
      }
    }
    best.push(chain);
  }
  return best.reduce((longest, chain) => (chain.length > longest.length ? chain : longest));
}

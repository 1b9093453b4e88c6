function gcd(a, b) {
  return b === 0 ? a : gcd(b, a % b);
}

function mergeFactors(nums) {
  const stack = [];
  for (const num of nums) {
    let current = num;
    while (stack.length > 0) {
      const common = gcd(stack[stack.length - 1], current);
      if (common === 1) {
        break;
      }
      current = (stack.pop() + current) / common;
    }
    stack.push(current);
  }
  return stack;
}

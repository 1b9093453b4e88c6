function hazyTowers(heights, haze) {
  const stack = [];
  const answer = [];
  for (let i = heights.length - 1; i >= 0; i--) {
    let weight = 1;
    let reach = heights[i];
    while (stack.length > 0 && stack[stack.length - 1][0] < reach) {
      weight += stack[stack.length - 1][1];
      reach -= haze;
      stack.pop();
    }
    answer.push(stack.length > 0 ? weight : -weight);
    stack.push([heights[i], weight]);
  }
  answer.reverse();
  return answer;
}

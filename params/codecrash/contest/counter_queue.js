function counterQueue(arrivals, efforts, patience) {
  const waiting = [];
  const outcome = [];
  let clock = 0;
  let upcoming = 0;
  while (upcoming < arrivals.length || waiting.length > 0) {
    while (upcoming < arrivals.length && arrivals[upcoming] <= clock) {
      waiting.push([efforts[upcoming], upcoming]);
      upcoming += 1;
    }
    if (waiting.length === 0) {
      clock = arrivals[upcoming];
      continue;
    }
    waiting.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const [effort, person] = waiting.shift();
    if (clock - arrivals[person] > patience) {
      outcome.push(-(person + 1));
    } else {
      clock += effort;
      outcome.push(person + 1);
    }
  }
  return [clock, outcome];
}

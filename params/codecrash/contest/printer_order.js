function printerOrder(jobs, pause) {
  const pending = jobs.map((job, index) => [index, job]);
  pending.sort((a, b) => a[1][0] - b[1][0]);
  const waiting = [];
  let clock = 0;
  const log = [];
  while (pending.length > 0 || waiting.length > 0) {
    while (pending.length > 0 && pending[0][1][0] <= clock) {
      const [index, job] = pending.shift();
      waiting.push([-job[2], job[1], index]);
    }
    if (waiting.length > 0) {
      waiting.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
      const [, pages, index] = waiting.shift();
      clock += pages;
      log.push([index, clock]);
      clock += pause;
    } else {
      clock = pending[0][1][0];
    }
  }
  return log;
}

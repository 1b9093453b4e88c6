function bisectLeft(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (sorted[mid] < value) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

function rankReadings(readings, window) {
  const recent = [];
  const report = [];
  for (let i = 0; i < readings.length; i++) {
    const value = readings[i];
    if (i >= window) {
      recent.splice(recent.indexOf(readings[i - window]), 1);
    }
    const rank = bisectLeft(recent, value);
    recent.splice(rank, 0, value);
    const middle = recent[Math.floor(recent.length / 2)];
    if (value > middle) {
      report.push(`+${value - middle}`);
    } else if (value < middle) {
      report.push(`-${middle - value}`);
    } else {
      report.push(`#${rank}`);
    }
  }
  return report.join(" ");
}

function bounded(low, high) {
  return function wrap(action) {
    return function inner(...args) {
      return Math.max(low, Math.min(high, action(...args)));
    };
  };
}

function rawCharge(level, sun, lamps) {
  return level + sun * 7 - lamps ** 2;
}

const charge = bounded(0, 100)(rawCharge);

function batteryLog(level, days) {
  const log = [];
  let current = level;
  let blackouts = 0;
  for (const day of days) {
    current = charge(current, day[0], day[1]);
    blackouts = current === 0 ? blackouts + 1 : blackouts;
    log.push(current);
  }
  return [...log, blackouts];
}

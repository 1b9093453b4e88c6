function collectEvents(bookings) {
  const events = [];
  for (const booking of bookings) {
    events.push([booking[0], 1]);
    events.push([booking[1], -1]);
  }
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return events;
}

function busiestMoments(bookings) {
  let load = 0;
  let peak = 0;
  let spans = [];
  const events = collectEvents(bookings);
  for (let index = 0; index + 1 < events.length; index++) {
    const [moment, change] = events[index];
    const upcoming = events[index + 1][0];
    load += change;
    if (load > peak) {
      peak = load;
      spans = [];
    }
    if (load === peak && moment < upcoming) {
      spans.push([moment, upcoming]);
    }
  }
  return [peak, spans];
}

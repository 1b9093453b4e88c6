function addTo(counter, key, amount) {
  counter.set(key, (counter.get(key) ?? 0) + amount);
}

function compareText(a, b) {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}

function leagueTable(results) {
  const points = new Map();
  const margin = new Map();
  for (const result of results) {
    const [home, score, away] = result.split(" ");
    const [scored, conceded] = score.split("-").map(Number);
    const difference = scored - conceded;
    let gain = 1;
    if (difference > 0) {
      gain = 3;
    } else if (difference < 0) {
      gain = 0;
    }
    addTo(points, home, gain);
    addTo(points, away, gain === 1 ? 1 : 3 - gain);
    addTo(margin, home, difference);
    addTo(margin, away, -difference);
  }
  const table = [...points.keys()].sort(
    (a, b) => points.get(b) - points.get(a) || margin.get(b) - margin.get(a) || compareText(a, b)
  );
  return table.map((team) => {
    const title = team[0].toUpperCase() + team.slice(1).toLowerCase();
    return `${title} ${points.get(team)} (${margin.get(team)})`;
  });
}

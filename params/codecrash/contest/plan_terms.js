function planTerms(courses, needs, slots) {
  const waiting = new Map(courses.map((course) => [course, 0]));
  const opens = new Map(courses.map((course) => [course, []]));
  for (const [before, after] of needs) {
    opens.get(before).push(after);
    waiting.set(after, waiting.get(after) + 1);
  }
  const ready = courses.filter((course) => waiting.get(course) === 0);
  ready.sort();
  const terms = [];
  while (ready.length > 0) {
    const term = ready.splice(0, slots);
    terms.push(term.join("+"));
    for (const course of term) {
      for (const later of opens.get(course)) {
        waiting.set(later, waiting.get(later) - 1);
        if (waiting.get(later) === 0) {
          ready.push(later);
        }
      }
    }
    ready.sort();
  }
  const stuck = courses.filter((course) => waiting.get(course) > 0);
  terms.push(...stuck.map((course) => course.toUpperCase()));
  return terms;
}

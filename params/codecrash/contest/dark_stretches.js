class Span {
  constructor(start, end) {
    this.start = start;
    this.end = end;
  }

  touches(other) {
    return other.start <= this.end;
  }

  absorb(other) {
    this.end = Math.max(this.end, other.end);
  }
}

function darkStretches(lanterns, reach, street) {
  const merged = [];
  const ordered = [...lanterns].sort((a, b) => a - b);
  for (const spot of ordered) {
    const span = new Span(Math.max(0, spot - reach), Math.min(street, spot + reach));
    const last = merged[merged.length - 1];
    if (last && last.touches(span)) {
      last.absorb(span);
    } else {
      merged.push(span);
    }
  }
  const gaps = [];
  let cursor = 0;
  for (const span of merged) {
    if (span.start > cursor) {
      gaps.push([cursor, span.start]);
    }
    cursor = span.end;
  }
  if (cursor < street) {
    gaps.push([cursor, street]);
  }
  return gaps;
}

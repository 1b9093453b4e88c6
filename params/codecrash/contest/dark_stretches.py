class Span:

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def touches(self, other):
        return other.start <= self.end

    def absorb(self, other):
        self.end = max(self.end, other.end)

def darkStretches(lanterns, reach, street):
    merged = []
    for spot in sorted(lanterns):
        span = Span(max(0, spot - reach), min(street, spot + reach))
        if merged and merged[-1].touches(span):
            merged[-1].absorb(span)
        else:
            merged.append(span)
    gaps = []
    cursor = 0
    for span in merged:
        if span.start > cursor:
            gaps.append([cursor, span.start])
        cursor = span.end
    if cursor < street:
        gaps.append([cursor, street])
    return gaps

def collectEvents(bookings):
    events = []
    for start, end in bookings:
        events.append([start, 1])
        events.append([end, -1])
    events.sort()
    return events

def busiestMoments(bookings):
    load = peak = 0
    spans = []
    events = collectEvents(bookings)
    for (moment, change), (upcoming, _) in zip(events, events[1:]):
        load += change
        if load > peak:
            peak = load
            spans = []
        if load == peak and moment < upcoming:
            spans.append([moment, upcoming])
    return [peak, spans]

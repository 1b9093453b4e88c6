from bisect import bisect_left

def elbowRoom(seats, span):
    taken = []

    def room(seat, at):
        before = seat - taken[at - 1] if at > 0 else span
        after = taken[at] - seat if at < len(taken) else span
        return min(before, after, span)
    report = []
    for seat in seats:
        at = bisect_left(taken, seat)
        report.append(room(seat, at) * 10 + at)
        taken.insert(at, seat)
    return report

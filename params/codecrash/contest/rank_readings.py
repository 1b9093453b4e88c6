from bisect import bisect_left

def rankReadings(readings, window):
    recent = []
    report = []
    for i, value in enumerate(readings):
        if i >= window:
            recent.remove(readings[i - window])
        rank = bisect_left(recent, value)
        recent.insert(rank, value)
        middle = recent[len(recent) // 2]
        if value > middle:
            report.append(f'+{value - middle}')
        elif value < middle:
            report.append(f'-{middle - value}')
        else:
            report.append(f'#{rank}')
    return ' '.join(report)

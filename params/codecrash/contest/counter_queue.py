import heapq

def counterQueue(arrivals, efforts, patience):
    waiting = []
    outcome = []
    clock = 0
    upcoming = 0
    while upcoming < len(arrivals) or waiting:
        while upcoming < len(arrivals) and arrivals[upcoming] <= clock:
            heapq.heappush(waiting, [efforts[upcoming], upcoming])
            upcoming += 1
        if not waiting:
            clock = arrivals[upcoming]
            continue
        effort, person = heapq.heappop(waiting)
        if clock - arrivals[person] > patience:
            outcome.append(-(person + 1))
        else:
            clock += effort
            outcome.append(person + 1)
    return [clock, outcome]

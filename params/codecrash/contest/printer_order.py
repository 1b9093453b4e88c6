import heapq

def printerOrder(jobs, pause):
    pending = sorted(enumerate(jobs), key=lambda item: item[1][0])
    waiting = []
    clock = 0
    log = []
    while pending or waiting:
        while pending and pending[0][1][0] <= clock:
            index, (_, pages, rank) = pending.pop(0)
            heapq.heappush(waiting, (-rank, pages, index))
        if waiting:
            _, pages, index = heapq.heappop(waiting)
            clock += pages
            log.append([index, clock])
            clock += pause
        else:
            clock = pending[0][1][0]
    return log

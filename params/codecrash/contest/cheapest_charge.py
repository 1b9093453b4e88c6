import heapq

def cheapestCharge(prices, roads, battery):
    goal = len(prices) - 1
    heap = [(0, 0, 0)]
    done = set()
    while heap:
        cost, town, power = heapq.heappop(heap)
        if town == goal:
            return [cost, power]
        if (town, power) in done:
            continue
        done.add((town, power))
        if power < battery:
            heapq.heappush(heap, (cost + prices[town], town, power + 1))
        for source, target, need in roads:
            if source == town and need <= power:
                heapq.heappush(heap, (cost, target, min(battery, power - need)))
    return [-1, len(done)]

def ringCountOut(names, skips):
    after = [*range(1, len(names)), 0]
    before = len(names) - 1
    order = []
    turn = 0
    while len(order) < len(names):
        for _ in range(skips[turn % len(skips)]):
            before = after[before]
        out = after[before]
        after[before] = after[out]
        order.append(names[out])
        turn += len(names[out])
    *losers, winner = order
    losers.reverse()
    losers.insert(0, winner.capitalize())
    return losers

from functools import cache

def bestLaneScore(lanes, switchCost, patience):
    width = len(lanes[0])

    @cache
    def walk(col, lane, stay):
        gain = lanes[lane][col]
        if col + 1 == width:
            return gain
        options = []
        for target in range(len(lanes)):
            if target == lane and stay < patience:
                options.append(walk(col + 1, lane, stay + 1))
            elif target != lane:
                options.append(walk(col + 1, target, 1) - switchCost * abs(target - lane))
        return gain + max(options)
    return max((walk(0, lane, 1) for lane in range(len(lanes))))

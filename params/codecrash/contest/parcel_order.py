from collections import deque

def parcelOrder(names, passes):
    circle = deque(names)
    leaving = []
    while len(circle) > 1:
        hops = passes[len(leaving) % len(passes)]
        circle.rotate(-hops)
        leaving.append(circle.popleft())
        if len(leaving) % 3 == 0:
            circle.reverse()
    return leaving + list(circle)

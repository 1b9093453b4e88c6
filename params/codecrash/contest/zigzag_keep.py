def zigzagKeep(nums):
    first, *rest = nums
    kept = [first]
    direction = 0
    for num in rest:
        step = (num > kept[-1]) - (num < kept[-1])
        if step == 0:
            continue
        if step == direction:
            kept[-1] = num
        else:
            kept.append(num)
        direction = step
    return kept

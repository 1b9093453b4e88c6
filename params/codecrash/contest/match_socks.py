def matchSocks(left, right, tolerance):
    lefts, rights = (sorted(left), sorted(right))
    pairs = []
    lonely = []
    i = j = 0
    while i < len(lefts) and j < len(rights):
        gap = lefts[i] - rights[j]
        if abs(gap) <= tolerance:
            pairs.append([lefts[i], rights[j]])
            i += 1
            j += 1
        elif gap < 0:
            lonely.append(lefts[i])
            i += 1
        else:
            lonely.append(rights[j])
            j += 1
    lonely.extend(lefts[i:])
    lonely.extend(rights[j:])
    return [pairs, lonely]

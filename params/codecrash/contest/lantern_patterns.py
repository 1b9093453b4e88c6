def lanternPatterns(length, gap, colors, wanted):
    rows = []
    current = []

    def place(index, wait, last, left):
        if left > length - index:
            return
        if index == length:
            rows.append(''.join(current))
            return
        current.append('.')
        place(index + 1, wait - 1, last, left)
        current.pop()
        if wait <= 0 and left > 0:
            for color in colors:
                if color != last:
                    current.append(color)
                    place(index + 1, gap, color, left - 1)
                    current.pop()
    place(0, 0, '', wanted)
    rows.sort()
    return rows

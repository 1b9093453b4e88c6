def cascadeTiles(rows, least):
    height, width = (len(rows), len(rows[0]))

    def gather(r, c, color, group):
        inside = 0 <= r < height and 0 <= c < width
        if inside and (r, c) not in group and (rows[r][c] == color):
            group.add((r, c))
            gather(r + 1, c, color, group)
            gather(r - 1, c, color, group)
            gather(r, c + 1, color, group)
            gather(r, c - 1, color, group)
        return group
    doomed = set()
    for r in range(height):
        for c in range(width):
            if rows[r][c] == '.':
                doomed.add((r, c))
            elif (r, c) not in doomed:
                group = gather(r, c, rows[r][c], set())
                if len(group) >= least:
                    doomed.update(group)
    columns = []
    for c in range(width):
        column = [rows[r][c] for r in range(height) if (r, c) not in doomed]
        columns.append(['.'] * (height - len(column)) + column)
    return [''.join(line) for line in zip(*columns)]

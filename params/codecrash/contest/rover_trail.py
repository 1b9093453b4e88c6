def roverTrail(grid, commands):
    rows = [list(line) for line in grid]
    headings = [(-1, 0), (0, 1), (1, 0), (0, -1)]
    r, c, face = (0, 0, 1)
    bumps = 0

    def ahead():
        dr, dc = headings[face]
        return ((r + dr) % len(rows), (c + dc) % len(rows[0]))
    for command in commands:
        if command == 'L':
            face = (face - 1) % 4
        elif command == 'R':
            face = (face + 1) % 4
        else:
            y, x = ahead()
            if rows[y][x] == '#':
                rows[y][x] = '%'
                face = (face + 2) % 4
                bumps += 1
            else:
                rows[r][c] = '+' if rows[r][c] == '.' else '*'
                r, c = (y, x)
    rows[r][c] = 'NESW'[face]
    return [''.join(line) for line in rows] + [bumps]

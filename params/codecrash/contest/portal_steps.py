from collections import defaultdict, deque

def portalSteps(grid, start, goal):
    twins = defaultdict(list)
    for r, row in enumerate(grid):
        for c, cell in enumerate(row):
            if cell not in '.#':
                twins[cell].append([r, c])
    queue = deque([(start, 0)])
    seen = {tuple(start)}
    while queue:
        (r, c), steps = queue.popleft()
        if [r, c] == goal:
            return steps
        options = [[r + 1, c], [r - 1, c], [r, c + 1], [r, c - 1]]
        options.extend(twins.get(grid[r][c], []))
        for y, x in options:
            if not (0 <= y < len(grid) and 0 <= x < len(grid[0])):
                continue
            if grid[y][x] != '#' and (y, x) not in seen:
                seen.add((y, x))
                queue.append(([y, x], steps + 1))
    return -len(seen)

def framePath(height, width):
    path = [[0, col] for col in range(width)]
    path.extend(([row, width - 1] for row in range(1, height)))
    path.extend(([height - 1, col] for col in range(width - 2, -1, -1)))
    path.extend(([row, 0] for row in range(height - 2, 0, -1)))
    return path

def rotateFrame(grid, steps):
    path = framePath(len(grid), len(grid[0]))
    values = [grid[row][col] for row, col in path]
    result = [line[:] for line in grid]
    for index, (row, col) in enumerate(path):
        result[row][col] = values[(index - steps) % len(path)]
    return result

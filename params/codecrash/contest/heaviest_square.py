class SummedGrid:

    def __init__(self, grid):
        width = len(grid[0])
        self.table = [[0] * (width + 1)]
        for line in grid:
            above = self.table[-1]
            total = 0
            sums = [0]
            for col, value in enumerate(line):
                total += value
                sums.append(total + above[col + 1])
            self.table.append(sums)

    def square(self, row, col, size):
        top, bottom = (self.table[row], self.table[row + size])
        return bottom[col + size] - bottom[col] - top[col + size] + top[col]

def heaviestSquare(grid, size):
    summed = SummedGrid(grid)
    best = None
    for row in range(len(grid) - size + 1):
        for col in range(len(grid[0]) - size + 1):
            total = summed.square(row, col, size)
            if best is None or total > best[0]:
                best = [total, row, col]
    return best

def largestPatches(rows):
    seen = set()
    best = {}
    size = 0
    width = len(rows[0])

    def flood(row, col, letter):
        nonlocal size
        inside = 0 <= row < len(rows) and 0 <= col < width
        key = row * width + col
        if inside and key not in seen and (rows[row][col] == letter):
            seen.add(key)
            size += 1
            for down, across in [[0, 1], [1, 0], [0, -1], [-1, 0]]:
                flood(row + down, col + across, letter)
    for row, line in enumerate(rows):
        for col, letter in enumerate(line):
            size = 0
            flood(row, col, letter)
            best[letter] = max(best.get(letter, 0), size)
    return [f'{letter}{best[letter]}' for letter in sorted(best)]

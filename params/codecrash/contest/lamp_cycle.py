def spinLamps(lamps, width):
    full = (1 << width) - 1
    return (lamps << 1 | lamps >> width - 1) & full

def lampCycle(width, lamps, key):
    seen = {}
    rounds = 0
    while lamps not in seen:
        seen[lamps] = rounds
        spun = spinLamps(lamps, width)
        lamps = spun ^ key if bin(spun).count('1') % 2 else spun & ~1
        rounds += 1
    return [seen[lamps], rounds - seen[lamps], max(seen)]

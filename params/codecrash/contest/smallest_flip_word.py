def flipWindow(word, start, window):
    end = start + window
    return word[:start] + word[start:end][::-1] + word[end:]

def smallestFlipWord(word, window, flips):
    seen = {word}
    frontier = {word}
    starts = range(len(word) - window + 1)
    for _ in range(flips):
        reached = {flipWindow(item, start, window) for item in frontier for start in starts}
        frontier = reached - seen
        seen.update(frontier)
    return f'{min(seen)} of {len(seen)}'

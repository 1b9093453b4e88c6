from functools import lru_cache

def countUnevenSplits(word, longest):

    @lru_cache(maxsize=None)
    def count(start, previous):
        if start == len(word):
            return 1
        total = 0
        for size in range(1, longest + 1):
            end = start + size
            if end > len(word):
                break
            if size != previous and (word[start] == word[end - 1] or size % 2 == 0):
                total += count(end, size)
        return total
    return count(0, 0)

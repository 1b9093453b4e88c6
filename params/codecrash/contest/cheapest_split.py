from functools import lru_cache

def cheapestSplit(text, fee):

    @lru_cache(maxsize=None)
    def price(start):
        if start == len(text):
            return 0
        options = []
        for end in range(start + 1, len(text) + 1):
            distinct = len({letter.lower() for letter in text[start:end]})
            options.append(fee + distinct ** 2 + price(end))
        return min(options)
    return [price(start) for start in range(len(text))]

from collections import Counter

def louderSegment(text, maxVowels):
    seen = Counter()
    best = ''
    left = 0
    for right, letter in enumerate(text):
        if letter.lower() in 'aeiou':
            seen[letter.lower()] += 1
        while len(seen) > maxVowels:
            first = text[left].lower()
            if first in seen:
                seen[first] -= 1
                if seen[first] == 0:
                    del seen[first]
            left += 1
        if right - left + 1 > len(best):
            best = text[left:right + 1]
    return best.swapcase()

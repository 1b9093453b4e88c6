def mirrorRepair(text, budget):
    letters = list(text)

    def mend(left, right):
        cost = abs(ord(letters[left]) - ord(letters[right]))
        letters[left] = letters[right] = min(letters[left], letters[right])
        return cost
    left, right = (0, len(text) - 1)
    while left < right:
        if text[left] != text[right]:
            budget -= mend(left, right)
            if budget < 0:
                return f'stuck at {left} short {-budget}'
        left += 1
        right -= 1
    return ''.join(letters) + str(budget)

from itertools import accumulate

def lengthMatchingSums(nums, modulus):
    first = {}
    tally = {}
    count = 0
    longest = 0
    shifted = (num - 1 for num in nums)
    for index, total in enumerate(accumulate(shifted, initial=0)):
        key = total % modulus
        count += tally.get(key, 0)
        tally[key] = tally.get(key, 0) + 1
        longest = max(longest, index - first.setdefault(key, index))
    return [count, longest]

from math import gcd

def longestGcdChain(nums, least):
    best = []
    for i, num in enumerate(nums):
        chain = [num]
        for j in range(i):
            shared = gcd(nums[j], num)
            if least <= shared < num and len(best[j]) >= len(chain):
                chain = best[j] + [num]
        best.append(chain)
    return max(best, key=len)

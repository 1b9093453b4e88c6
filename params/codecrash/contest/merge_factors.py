from math import gcd

def mergeFactors(nums):
    stack = []
    for num in nums:
        while stack and (common := gcd(stack[-1], num)) > 1:
            num = (stack.pop() + num) // common
        stack.append(num)
    return stack

def hazyTowers(heights, haze):
    stack = []
    answer = []
    for height in reversed(heights):
        weight = 1
        reach = height
        while stack and stack[-1][0] < reach:
            weight += stack[-1][1]
            reach -= haze
            stack.pop()
        answer.append(weight if stack else -weight)
        stack.append([height, weight])
    answer.reverse()
    return answer

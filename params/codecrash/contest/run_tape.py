import operator
ACTIONS = {'+': operator.add, '-': operator.sub, '*': operator.mul, 'max': max}

def runTape(tape):
    stack = []
    faults = []
    for position, token in enumerate(tape.split()):
        try:
            if token in ACTIONS:
                second = stack.pop()
                first = stack.pop()
                stack.append(ACTIONS[token](first, second))
            else:
                stack.append(int(token))
        except (IndexError, ValueError):
            faults.append(position)
    return [stack, faults]

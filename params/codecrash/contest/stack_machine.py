def stackMachine(program, modulus):
    stack = []

    def push(*values):
        stack.extend((value % modulus for value in values))
    for token in program.lower().split():
        try:
            push(int(token))
        except ValueError:
            top = stack.pop() if stack else 1
            under = stack.pop() if stack else 0
            if token == 'swap':
                push(top, under)
            elif token == 'over':
                push(under, top, under)
            elif token == 'add':
                push(under + top)
            elif token == 'mul':
                push(under * top)
            else:
                push(under - top)
    return stack

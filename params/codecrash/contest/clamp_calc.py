class Reader:
    tiers = ['<>', '+-', '*']
    apply = {'<': min, '>': max, '+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b}

    def __init__(self, text):
        self.text, self.spot = (text.replace(' ', ''), 0)

    def take(self):
        self.spot += 1
        return self.text[self.spot - 1:self.spot]

    def level(self, depth):
        if depth == len(self.tiers):
            return self.atom()
        value = self.level(depth + 1)
        while (sign := self.take()) and sign in self.tiers[depth]:
            value = self.apply[sign](value, self.level(depth + 1))
        self.spot -= 1
        return value

    def atom(self):
        mark = self.take()
        if mark != '(':
            return int(mark)
        value = self.level(0)
        self.take()
        return value

def clampCalc(text):
    return Reader(text).level(0)

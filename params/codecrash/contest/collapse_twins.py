from functools import wraps

def untilStable(step):

    @wraps(step)
    def repeat(text):
        while (changed := step(text)) != text:
            text = changed
        return text
    return repeat

@untilStable
def tumble(text):
    pieces = []
    for letter in text:
        if pieces and pieces[-1] == letter:
            pieces[-1] = chr((ord(letter) - 96) % 26 + 97)
        else:
            pieces.append(letter)
    return ''.join(pieces)

def collapseTwins(words):
    return [tumble(word.lower()) for word in words]

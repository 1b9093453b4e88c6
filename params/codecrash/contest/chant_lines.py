def decorate(line, number):
    if number % 3 == 0:
        return line.capitalize()
    elif number % 3 == 1:
        return line.upper()
    return line.replace(' ', '_')

def chantLines(text, width, filler):
    lines = []
    words = text.split()
    while words:
        line = words.pop(0)
        while words and len(line) + 1 + len(words[0]) <= width:
            line += ' ' + words.pop(0)
        lines.append(decorate(line, len(lines)).ljust(width, filler))
    return lines

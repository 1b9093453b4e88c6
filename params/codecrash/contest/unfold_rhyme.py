def unfoldRhyme(text):
    spot = 0

    def read():
        nonlocal spot
        pieces = []
        while spot < len(text) and text[spot] != ')':
            mark = text[spot]
            spot += 1
            if mark.isdigit():
                spot += 1
                inner = read()
                spot += 1
                pieces.extend((inner if turn % 2 == 0 else inner[::-1] for turn in range(int(mark))))
            elif mark == '^' and pieces:
                pieces[-1] = pieces[-1].upper()
            else:
                pieces.append(mark)
        return ''.join(pieces)
    return read()

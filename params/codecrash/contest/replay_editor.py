def replayEditor(commands, limit):
    text = ''
    history = []
    undone = []
    for command in commands:
        match command.split(' '):
            case ['type', word]:
                history.append(text)
                text = (text + word)[:limit]
            case ['cut', amount]:
                history.append(text)
                text = text[:max(0, len(text) - int(amount))]
            case ['flip']:
                history.append(text)
                text = text.swapcase()
            case ['undo'] if history:
                undone.append(text)
                text = history.pop()
            case ['redo'] if undone:
                history.append(text)
                text = undone.pop()
            case _:
                text += '?'
    return text

from itertools import groupby

def liftReport(floors):
    moves = [after - before for before, after in zip(floors, floors[1:])]
    report = []
    for sign, group in groupby(moves, key=lambda move: (move > 0) - (move < 0)):
        steps = list(group)
        if sign > 0:
            name = 'up'
        elif sign < 0:
            name = 'down'
        else:
            name = 'wait'
        report.append(f'{name}{len(steps)}:{abs(sum(steps))}')
    return ' '.join(report)

def bounded(low, high):

    def wrap(action):

        def inner(*args):
            return max(low, min(high, action(*args)))
        return inner
    return wrap

@bounded(0, 100)
def charge(level, sun, lamps):
    return level + sun * 7 - lamps ** 2

def batteryLog(level, days):
    log = []
    blackouts = 0
    for sun, lamps in days:
        level = charge(level, sun, lamps)
        blackouts = blackouts + 1 if level == 0 else blackouts
        log.append(level)
    return log + [blackouts]

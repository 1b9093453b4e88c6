from functools import reduce
from itertools import combinations
from operator import xor

def closestXorTeam(badges, size, target):
    record = None
    winner = []
    for team in combinations(badges, size):
        mix = reduce(xor, team)
        distance = abs(mix - target)
        if record is None or distance < record:
            record = distance
            winner = [*team, mix]
    return winner

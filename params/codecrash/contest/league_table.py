from collections import Counter

def leagueTable(results):
    points = Counter()
    margin = Counter()
    for result in results:
        home, score, away = result.split()
        scored, conceded = map(int, score.split('-'))
        points.update({home: 0, away: 0})
        if scored > conceded:
            points[home] += 3
        elif scored < conceded:
            points[away] += 3
        else:
            points.update([home, away])
        margin[home] += scored - conceded
        margin[away] -= scored - conceded
    table = sorted(points, key=lambda team: (-points[team], -margin[team], team))
    return [f'{team.capitalize()} {points[team]} ({margin[team]})' for team in table]

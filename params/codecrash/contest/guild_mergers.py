class Guilds:

    def __init__(self, count):
        self.leader = list(range(count))
        self.weight = [1] * count

    def find(self, member):
        while self.leader[member] != member:
            self.leader[member] = self.leader[self.leader[member]]
            member = self.leader[member]
        return member

    def merge(self, one, two, ceiling):
        big, small = (self.find(one), self.find(two))
        if big == small:
            return 0
        if self.weight[big] < self.weight[small]:
            big, small = (small, big)
        total = self.weight[big] + self.weight[small]
        if total > ceiling:
            return -total
        self.leader[small] = big
        self.weight[big] = total
        return total

def guildMergers(count, pacts, ceiling):
    guilds = Guilds(count)
    history = [guilds.merge(one, two, ceiling) for one, two in pacts]
    return [history, [guilds.find(member) for member in range(count)]]

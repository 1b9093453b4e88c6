class Guilds {
  constructor(count) {
    this.leader = Array.from({ length: count }, (_, i) => i);
    this.weight = new Array(count).fill(1);
  }

  find(member) {
    while (this.leader[member] !== member) {
      this.leader[member] = this.leader[this.leader[member]];
      member = this.leader[member];
    }
    return member;
  }

  merge(one, two, ceiling) {
    let big = this.find(one);
    let small = this.find(two);
    if (big === small) {
      return 0;
    }
    if (this.weight[big] < this.weight[small]) {
      [big, small] = [small, big];
    }
    const total = this.weight[big] + this.weight[small];
    if (total > ceiling) {
      return -total;
    }
    this.leader[small] = big;
    this.weight[big] = total;
    return total;
  }
}

function guildMergers(count, pacts, ceiling) {
  const guilds = new Guilds(count);
  const history = pacts.map((pact) => guilds.merge(pact[0], pact[1], ceiling));
  const leaders = [];
  for (let member = 0; member < count; member++) {
    leaders.push(guilds.find(member));
  }
  return [history, leaders];
}

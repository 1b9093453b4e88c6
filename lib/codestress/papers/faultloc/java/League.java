import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

public class League {
    static class Team {
        final String name;
        int points;
        int scored;
        int conceded;
        int unbeaten;
        int longest;

        Team(String name) {
            this.name = name;
        }

        int difference() {
            return scored - conceded;
        }

        void play(int mine, int theirs) {
            scored += mine;
            conceded += theirs;
            if (mine > theirs) {
                points += 3;
            } else if (mine == theirs) {
                points += 1;
            }
            unbeaten = mine >= theirs ? unbeaten + 1 : 0;
            longest = Math.max(longest, unbeaten);
        }
    }

    private final Map<String, Team> teams = new TreeMap<>();

    Team team(String name) {
        if (!teams.containsKey(name)) {
            teams.put(name, new Team(name));
        }
        return teams.get(name);
    }

    void match(String text) {
        String[] parts = text.split(":");
        int home = Integer.parseInt(parts[2]);
        int away = Integer.parseInt(parts[3]);
        team(parts[0]).play(home, away);
        team(parts[1]).play(away, home);
    }

    static boolean before(Team one, Team other) {
        if (one.points != other.points) {
            return one.points > other.points;
        }
        if (one.difference() != other.difference()) {
            return one.difference() > other.difference();
        }
        return one.scored > other.scored || one.scored == other.scored && one.name.compareTo(other.name) < 0;
    }

    List<Team> table() {
        List<Team> sorted = new ArrayList<>();
        for (Team team : teams.values()) {
            int place = 0;
            while (place < sorted.size() && before(sorted.get(place), team)) {
                place += 1;
            }
            sorted.add(place, team);
        }
        return sorted;
    }

    public static void main(String[] args) {
        League league = new League();
        for (int i = 0; i < args.length; i++) {
            league.match(args[i]);
        }
        List<Team> table = league.table();
        Team best = table.get(0);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < table.size(); i++) {
            Team team = table.get(i);
            text.append(team.name).append(team.points).append('/').append(team.difference()).append(' ');
            if (team.longest > best.longest) {
                best = team;
            }
        }
        System.out.println(text + best.name + " unbeaten " + best.longest);
    }
}

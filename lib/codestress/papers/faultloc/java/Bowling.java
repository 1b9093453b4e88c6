import java.util.ArrayList;
import java.util.List;

public class Bowling {
    private final int[] pins;
    private int strikes;
    private int spares;

    Bowling(String[] throwsMade) {
        pins = new int[throwsMade.length];
        for (int i = 0; i < throwsMade.length; i++) {
            pins[i] = Integer.parseInt(throwsMade[i]);
        }
    }

    boolean known(int first, int count) {
        return first >= 0 && first + count <= pins.length;
    }

    boolean strike(int at) {
        return pins[at] == 10;
    }

    boolean spare(int at) {
        return known(at, 2) && pins[at] + pins[at + 1] == 10;
    }

    int sum(int first, int count) {
        int total = 0;
        for (int i = first; i < first + count; i++) {
            total += pins[i];
        }
        return total;
    }

    List<Integer> scores() {
        List<Integer> scores = new ArrayList<>();
        int at = 0;
        int total = 0;
        for (int frame = 1; frame <= 10; frame++) {
            if (!known(at, 1)) {
                break;
            }
            boolean struck = strike(at);
            boolean spared = !struck && spare(at);
            int needed = struck || spared ? 3 : 2;
            if (!known(at, needed)) {
                break;
            }
            total += sum(at, needed);
            scores.add(total);
            strikes += struck ? 1 : 0;
            spares += spared ? 1 : 0;
            at += struck ? 1 : 2;
        }
        return scores;
    }

    public static void main(String[] args) {
        Bowling game = new Bowling(args);
        List<Integer> scores = game.scores();
        System.out.println(scores + " strikes " + game.strikes + " spares " + game.spares);
    }
}

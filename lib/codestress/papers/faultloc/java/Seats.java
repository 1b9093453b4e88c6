import java.util.Arrays;

public class Seats {
    private final int[] votes;
    private final int seats;

    Seats(int seats, int threshold, int[] given) {
        this.seats = seats;
        this.votes = given.clone();
        int all = sum(given);
        for (int i = 0; i < votes.length; i++) {
            if (votes[i] * 100 < threshold * all) {
                votes[i] = 0;
            }
        }
    }

    static int sum(int[] numbers) {
        int total = 0;
        for (int number : numbers) {
            total += number;
        }
        return total;
    }

    int[] averages() {
        int[] result = new int[votes.length];
        for (int seat = 0; seat < seats; seat++) {
            int best = 0;
            for (int i = 1; i < votes.length; i++) {
                long mine = (long) votes[i] * (result[best] + 1);
                long theirs = (long) votes[best] * (result[i] + 1);
                if (mine > theirs) {
                    best = i;
                }
            }
            result[best] += 1;
        }
        return result;
    }

    int[] remainders() {
        int all = sum(votes);
        int[] result = new int[votes.length];
        int[] rest = new int[votes.length];
        for (int i = 0; i < votes.length; i++) {
            result[i] = votes[i] * seats / all;
            rest[i] = votes[i] * seats % all;
        }
        while (sum(result) < seats) {
            int best = 0;
            for (int i = 1; i < votes.length; i++) {
                if (rest[i] > rest[best]) {
                    best = i;
                }
            }
            result[best] += 1;
            rest[best] = -1;
        }
        return result;
    }

    public static void main(String[] args) {
        int[] votes = new int[args.length - 2];
        for (int i = 0; i < votes.length; i++) {
            votes[i] = Integer.parseInt(args[i + 2]);
        }
        Seats parliament = new Seats(Integer.parseInt(args[0]), Integer.parseInt(args[1]), votes);
        System.out.println(Arrays.toString(parliament.averages()) + " " + Arrays.toString(parliament.remainders()));
    }
}

import java.util.Arrays;

public class Change {
    private final int[] values;
    private final int[] stock;

    Change(String[] coins) {
        values = new int[coins.length];
        stock = new int[coins.length];
        for (int i = 0; i < coins.length; i++) {
            String[] parts = coins[i].split("x");
            values[i] = Integer.parseInt(parts[0]);
            stock[i] = Integer.parseInt(parts[1]);
        }
    }

    int till() {
        int sum = 0;
        for (int i = 0; i < values.length; i++) {
            sum += values[i] * stock[i];
        }
        return sum;
    }

    int[] best(int amount, int from) {
        if (amount == 0) {
            return new int[values.length];
        }
        if (from == values.length || amount < 0) {
            return null;
        }
        int[] found = null;
        int most = Math.min(stock[from], amount / values[from]);
        for (int used = most; used >= 0; used--) {
            int[] rest = best(amount - used * values[from], from + 1);
            if (rest == null) {
                continue;
            }
            rest[from] += used;
            if (found == null || count(rest) < count(found)) {
                found = rest;
            }
        }
        return found;
    }

    static int count(int[] coins) {
        int sum = 0;
        for (int number : coins) {
            sum += number;
        }
        return sum;
    }

    public static void main(String[] args) {
        Change change = new Change(Arrays.copyOfRange(args, 2, args.length));
        int amount = Integer.parseInt(args[1]) - Integer.parseInt(args[0]);
        int[] coins = change.best(amount, 0);
        if (coins == null) {
            System.out.println("cannot give " + amount);
            return;
        }
        System.out.println(Arrays.toString(coins) + " coins " + count(coins) + " left " + (change.till() - amount));
    }
}

import java.util.ArrayList;
import java.util.List;

public class Ledger {
    static final int OVERDRAFT = 5000;
    static final int FEE = 250;

    private int balance;
    private final int rate;
    private int refused;
    private final List<String> history = new ArrayList<>();

    Ledger(int balance, int rate) {
        this.balance = balance;
        this.rate = rate;
    }

    void deposit(int amount) {
        balance += amount;
        history.add("in");
    }

    boolean withdraw(int amount) {
        if (amount > 0 && balance - amount >= -OVERDRAFT) {
            balance -= amount;
            history.add("out");
            return true;
        }
        balance -= FEE;
        refused++;
        return false;
    }

    int interest() {
        if (balance >= 0) {
            return balance * rate / 100;
        }
        return balance * rate * 2 / 100;
    }

    void closeYear() {
        balance += interest();
        history.add("year");
    }

    int count(String kind) {
        int found = 0;
        for (int i = 0; i < history.size(); i++) {
            if (history.get(i).equals(kind)) {
                found += 1;
            }
        }
        return found;
    }

    void apply(String movement) {
        char kind = movement.charAt(0);
        if (kind == 'y') {
            closeYear();
        } else if (kind == 'd') {
            deposit(Integer.parseInt(movement.substring(1)));
        } else {
            withdraw(Integer.parseInt(movement.substring(1)));
        }
    }

    public static void main(String[] args) {
        Ledger ledger = new Ledger(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        for (int i = 2; i < args.length; i++) {
            ledger.apply(args[i]);
        }
        System.out.println(ledger.balance + " " + ledger.refused + " " + ledger.count("out"));
    }
}

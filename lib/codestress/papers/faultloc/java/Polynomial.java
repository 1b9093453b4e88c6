import java.util.ArrayList;
import java.util.List;

public class Polynomial {
    private final int[] terms;

    Polynomial(int[] terms) {
        this.terms = terms;
    }

    static Polynomial read(String text) {
        String[] parts = text.split(",");
        int[] terms = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            terms[i] = Integer.parseInt(parts[i]);
        }
        return new Polynomial(terms);
    }

    int degree() {
        int power = terms.length - 1;
        while (power > 0 && terms[power] == 0) {
            power -= 1;
        }
        return power;
    }

    Polynomial plus(Polynomial other, int sign) {
        int[] sum = new int[Math.max(terms.length, other.terms.length)];
        for (int i = 0; i < sum.length; i++) {
            int mine = i < terms.length ? terms[i] : 0;
            int theirs = i < other.terms.length ? other.terms[i] : 0;
            sum[i] = mine + sign * theirs;
        }
        return new Polynomial(sum);
    }

    Polynomial times(Polynomial other) {
        int[] product = new int[terms.length + other.terms.length - 1];
        for (int i = 0; i < terms.length; i++) {
            for (int j = 0; j < other.terms.length; j++) {
                product[i + j] += terms[i] * other.terms[j];
            }
        }
        return new Polynomial(product);
    }

    long at(int x) {
        long value = 0;
        for (int i = degree(); i >= 0; i--) {
            value = value * x + terms[i];
        }
        return value;
    }

    String shown() {
        List<String> parts = new ArrayList<>();
        for (int i = degree(); i >= 0; i--) {
            if (terms[i] != 0 || degree() == 0) {
                parts.add(terms[i] + "^" + i);
            }
        }
        return String.join(" ", parts);
    }

    public static void main(String[] args) {
        Polynomial first = read(args[0]);
        Polynomial second = read(args[2]);
        Polynomial result = first.plus(second, args[1].equals("-") ? -1 : 1);
        if (args[1].equals("x")) {
            result = first.times(second);
        }
        int slope = Math.max(0, result.degree() - 1);
        System.out.println(result.shown() + " | " + result.at(Integer.parseInt(args[3])) + " | " + slope);
    }
}

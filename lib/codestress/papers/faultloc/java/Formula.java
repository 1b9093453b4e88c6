import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

public class Formula {
    private final Map<String, String> cells = new LinkedHashMap<>();
    private final Map<String, Integer> values = new HashMap<>();

    static class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    class Reader {
        private final String text;
        private final int depth;
        private int at;

        Reader(String text, int depth) {
            this.text = text;
            this.depth = depth;
        }

        boolean next(char mark) {
            if (at < text.length() && text.charAt(at) == mark) {
                at += 1;
                return true;
            }
            return false;
        }

        int sum() {
            int value = product();
            while (true) {
                if (next('+')) {
                    value = value + product();
                } else if (next('-')) {
                    value = value - product();
                } else {
                    return value;
                }
            }
        }

        int product() {
            int value = factor();
            while (true) {
                if (next('*')) {
                    value = value * factor();
                } else if (next('/')) {
                    int divisor = factor();
                    if (divisor == 0) {
                        throw new Failure();
                    }
                    value = value / divisor;
                } else {
                    return value;
                }
            }
        }

        int factor() {
            if (next('(')) {
                int value = sum();
                next(')');
                return value;
            }
            int start = at;
            while (at < text.length() && Character.isLetterOrDigit(text.charAt(at))) {
                at += 1;
            }
            String word = text.substring(start, at);
            if (!word.isEmpty() && Character.isDigit(word.charAt(0))) {
                return Integer.parseInt(word);
            }
            return cell(word, depth + 1);
        }
    }

    int cell(String name, int depth) {
        if (depth > cells.size() || !cells.containsKey(name)) {
            throw new Failure();
        }
        return new Reader(cells.get(name), depth).sum();
    }

    public static void main(String[] args) {
        Formula sheet = new Formula();
        for (int i = 0; i < args.length; i++) {
            String[] parts = args[i].split("=");
            sheet.cells.put(parts[0], parts[1]);
        }
        int total = 0;
        StringBuilder text = new StringBuilder();
        for (String name : sheet.cells.keySet()) {
            try {
                int value = sheet.cell(name, 0);
                sheet.values.put(name, value);
                total += value;
                text.append(value).append(' ');
            } catch (Failure failure) {
                text.append("err ");
            }
        }
        System.out.println(text + "sum " + total + " of " + sheet.values.size());
    }
}

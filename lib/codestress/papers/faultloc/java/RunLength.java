public class RunLength {
    static final char MARK = '~';
    static final int SHORTEST = 3;
    static final int LONGEST = 26;

    static int run(String text, int from) {
        int end = from;
        while (end < text.length() && text.charAt(end) == text.charAt(from)) {
            end += 1;
        }
        return end - from;
    }

    static String letter(int count) {
        return String.valueOf((char) ('a' + count - 1));
    }

    static int number(char letter) {
        return letter - 'a' + 1;
    }

    static void repeat(StringBuilder out, char mark, int count) {
        for (int i = 0; i < count; i++) {
            out.append(mark);
        }
    }

    static String pack(String text) {
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int length = Math.min(run(text, at), LONGEST);
            char mark = text.charAt(at);
            if (length >= SHORTEST || mark == MARK) {
                out.append(MARK).append(letter(length)).append(mark);
            } else {
                repeat(out, mark, length);
            }
            at += length;
        }
        return out.toString();
    }

    static String unpack(String text) {
        StringBuilder out = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            boolean marked = text.charAt(at) == MARK && at + 2 < text.length();
            if (marked) {
                repeat(out, text.charAt(at + 2), number(text.charAt(at + 1)));
                at += 2;
            } else {
                out.append(text.charAt(at));
            }
        }
        return out.toString();
    }

    public static void main(String[] args) {
        boolean packing = args[0].equals("pack");
        String result = packing ? pack(args[1]) : unpack(args[1]);
        int difference = args[1].length() - result.length();
        System.out.println(result + " " + result.length() + " " + difference);
    }
}

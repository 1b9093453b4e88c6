public class SearchTree {
    static class Node {
        int value;
        Node left;
        Node right;

        Node(int value) {
            this.value = value;
        }
    }

    private Node root;
    private int twice;

    Node insert(Node node, int value) {
        if (node == null) {
            return new Node(value);
        }
        if (value < node.value) {
            node.left = insert(node.left, value);
        } else if (value > node.value) {
            node.right = insert(node.right, value);
        } else {
            twice += 1;
        }
        return node;
    }

    static int smallest(Node node) {
        Node here = node;
        while (here.left != null) {
            here = here.left;
        }
        return here.value;
    }

    Node delete(Node node, int value) {
        if (node == null) {
            return null;
        }
        if (value < node.value) {
            node.left = delete(node.left, value);
            return node;
        }
        if (value > node.value) {
            node.right = delete(node.right, value);
            return node;
        }
        if (node.left == null || node.right == null) {
            return node.left == null ? node.right : node.left;
        }
        node.value = smallest(node.right);
        node.right = delete(node.right, node.value);
        return node;
    }

    int depth(int value) {
        int depth = 1;
        Node here = root;
        while (here != null && here.value != value) {
            here = value < here.value ? here.left : here.right;
            depth += 1;
        }
        return here == null ? 0 : depth;
    }

    static int height(Node node) {
        if (node == null) {
            return 0;
        }
        return 1 + Math.max(height(node.left), height(node.right));
    }

    static String inOrder(Node node) {
        if (node == null) {
            return "";
        }
        return inOrder(node.left) + node.value + " " + inOrder(node.right);
    }

    public static void main(String[] args) {
        SearchTree tree = new SearchTree();
        StringBuilder answers = new StringBuilder();
        for (int i = 0; i < args.length; i++) {
            String text = args[i];
            if (text.charAt(0) == '?') {
                answers.append(tree.depth(Integer.parseInt(text.substring(1)))).append(' ');
            } else if (text.charAt(0) == '-') {
                tree.root = tree.delete(tree.root, Integer.parseInt(text.substring(1)));
            } else {
                tree.root = tree.insert(tree.root, Integer.parseInt(text));
            }
        }
        System.out.println(answers + "| " + inOrder(tree.root) + "| " + height(tree.root) + " " + tree.twice);
    }
}

// Compiles and runs one Java program, and writes what its main printed, as the children for Python do. Standard input:
// the token, the counter's package, the steps, whether the source has counters in it, whose it is, the number of
// arguments, the arguments (one a line, Base64), then the source.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.tools.*;

class RunProgram {
  static String token;

  public static void main(String[] none) throws Exception {
    String input = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    String[] head = input.split("\n", 7);
    token = head[0];
    String[] parts = head[6].split("\n", Integer.parseInt(head[5]) + 1);
    String[] arguments = new String[parts.length - 1];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = new String(Base64.getDecoder().decode(parts[i].trim()), StandardCharsets.UTF_8);
    }
    String source = parts[parts.length - 1], steps = counter(head[1], head[2]);
    Map<String, byte[]> classes = compile(head[1] + ".Steps.step(); ", source, steps);
    if (head[3].equals("uncounted")) {
      report("tampered", "its steps cannot be counted");
    }
    Loaded loader = new Loaded(classes, head[4].equals("own"));
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(OutputStream.nullOutputStream()));
    try {
      Method main = main(loader, classes.keySet());
      main.setAccessible(true);
      main.invoke(null, (Object) arguments);
    } catch (InvocationTargetException wrapped) {
      Throwable error = wrapped.getCause();
      report("raised", error.getClass().getSimpleName(), String.valueOf(error.getMessage()));
    } catch (ReflectiveOperationException error) {
      report("raised", error.getClass().getSimpleName(), String.valueOf(error.getMessage()));
    }
    report("returned", printed.toString(StandardCharsets.UTF_8));
  }

  static Method main(Loaded loader, Set<String> names) throws ReflectiveOperationException {
    for (String name : names) {
      for (Method method : loader.loadClass(name).getDeclaredMethods()) {
        if (method.getName().equals("main") && Arrays.equals(method.getParameterTypes(), new Class<?>[] {String[].class})) {
          return method;
        }
      }
    }
    throw new NoSuchMethodException("main(String[])");
  }

  /** Counts down a latch, which nothing turns back, in a package whose name no program knows. */
  static String counter(String name, String steps) {
    return "package " + name + "; public class Steps {"
        + " private static final java.util.concurrent.CountDownLatch left ="
        + " new java.util.concurrent.CountDownLatch(" + steps + " + 1);"
        + " public static void step() { left.countDown(); if (left.getCount() == 0) Runtime.getRuntime().halt(86); } }";
  }

  /** Counts what lambdas only do or give back: for `step`, a statement, the source is compiled again with it in them. */
  static Map<String, byte[]> compile(String step, String source, String steps) throws Exception {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
    Map<String, ByteArrayOutputStream> written = new LinkedHashMap<>();
    JavaFileManager files = new ForwardingJavaFileManager<JavaFileManager>(
        compiler.getStandardFileManager(problems, null, StandardCharsets.UTF_8)) {
      @Override
      public JavaFileObject getJavaFileForOutput(Location l, String n, JavaFileObject.Kind kind, FileObject sibling) {
        return new SimpleJavaFileObject(URI.create("memory:///" + n.replace('.', '/') + kind.extension), kind) {
          @Override
          public OutputStream openOutputStream() {
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            written.put(n, content);
            return content;
          }
        };
      }
    };
    List<JavaFileObject> units = new ArrayList<>();
    for (String text : new String[] {source, steps}) {
      units.add(new SimpleJavaFileObject(URI.create("memory:///Main.java"), JavaFileObject.Kind.SOURCE) {
        @Override
        public boolean isNameCompatible(String name, JavaFileObject.Kind kind) {
          return true;
        }

        @Override
        public CharSequence getCharContent(boolean ignore) {
          return text;
        }
      });
    }
    List<String> options = List.of("-proc:none", "-nowarn", "-Xlint:none");
    JavacTask task = (JavacTask) compiler.getTask(null, files, problems, options, null, units);
    try {
      CompilationUnitTree unit = task.parse().iterator().next();
      task.analyze();
      tell(problems);
      String counted = step.isEmpty() ? source : new Lambdas(task, unit, step).counted(source);
      if (!counted.equals(source)) {
        return compile("", counted, steps);
      }
      task.generate();
    } catch (RuntimeException error) {
      report("syntax error", "does not compile: " + error.getMessage());
    }
    tell(problems);
    Map<String, byte[]> classes = new LinkedHashMap<>();
    written.forEach((n, content) -> classes.put(n, content.toByteArray()));
    return classes;
  }

  static void tell(DiagnosticCollector<JavaFileObject> problems) throws Exception {
    for (Diagnostic<? extends JavaFileObject> problem : problems.getDiagnostics()) {
      if (problem.getKind() == Diagnostic.Kind.ERROR) {
        report("syntax error", "line " + problem.getLineNumber() + ": " + problem.getMessage(null));
      }
    }
  }

  /** Lambdas of one expression that may be a statement: their types tell whether it gives a value or only does. */
  static class Lambdas extends TreePathScanner<Void, Void> {
    static final Set<Tree.Kind> EITHER = Set.of(Tree.Kind.METHOD_INVOCATION, Tree.Kind.NEW_CLASS,
        Tree.Kind.PREFIX_INCREMENT, Tree.Kind.PREFIX_DECREMENT, Tree.Kind.POSTFIX_INCREMENT, Tree.Kind.POSTFIX_DECREMENT);
    final JavacTask task;
    final CompilationUnitTree unit;
    final String step;
    final TreeMap<Long, String> begins = new TreeMap<>();
    final TreeMap<Long, Integer> ends = new TreeMap<>();

    Lambdas(JavacTask task, CompilationUnitTree unit, String step) {
      this.task = task;
      this.unit = unit;
      this.step = step;
    }

    String counted(String source) throws Exception {
      scan(unit, null);
      StringBuilder text = new StringBuilder(source);
      TreeSet<Long> places = new TreeSet<>(begins.keySet());
      places.addAll(ends.keySet());
      for (long place : places.descendingSet()) {
        text.insert((int) place, "; }".repeat(ends.getOrDefault(place, 0)) + begins.getOrDefault(place, ""));
      }
      return text.toString();
    }

    @Override
    public Void visitLambdaExpression(LambdaExpressionTree lambda, Void none) {
      Tree body = lambda.getBody();
      if (EITHER.contains(body.getKind()) || body instanceof AssignmentTree || body instanceof CompoundAssignmentTree) {
        SourcePositions places = Trees.instance(task).getSourcePositions();
        begins.merge(places.getStartPosition(unit, body), "{ " + step + (gives() ? "return " : ""), String::concat);
        ends.merge(places.getEndPosition(unit, body), 1, Integer::sum);
      }
      return super.visitLambdaExpression(lambda, none);
    }

    boolean gives() {
      TypeMirror type = Trees.instance(task).getTypeMirror(getCurrentPath());
      List<? extends TypeMirror> all = type instanceof IntersectionType both ? both.getBounds() : List.of(type);
      for (TypeMirror one : all) {
        for (Element member : task.getElements().getAllMembers((TypeElement) ((DeclaredType) one).asElement())) {
          boolean everyone = List.of("equals", "hashCode", "toString").contains(member.getSimpleName().toString());
          if (member instanceof ExecutableElement method && method.getModifiers().contains(Modifier.ABSTRACT) && !everyone) {
            return method.getReturnType().getKind() != TypeKind.VOID;
          }
        }
      }
      throw new IllegalStateException("a lambda without a type");
    }
  }

  static class Loaded extends ClassLoader {
    /** What looks into objects, loads code that has no counter in it, or goes round the language. */
    static final List<String> REACHING = List.of("java.lang.reflect.", "java.lang.ClassLoader", "java.lang.Module",
        "java.lang.foreign.", "java.lang.instrument.", "java.net.URLClassLoader", "java.security.SecureClassLoader",
        "java.beans.", "javax.tools.", "javax.script.", "javax.management.", "sun.", "jdk.", "com.sun.");
    final Map<String, byte[]> classes;
    final boolean own;

    Loaded(Map<String, byte[]> classes, boolean own) {
      this.classes = classes;
      this.own = own;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      boolean reaches = REACHING.stream().anyMatch(name::startsWith) || name.equals("java.lang.invoke.MethodHandles");
      if (!own && reaches && !name.equals("java.lang.reflect.Array")) {
        try {
          report("tampered", "it reached for " + name);
        } catch (Exception error) {
          Runtime.getRuntime().halt(71);
        }
      }
      return super.loadClass(name, resolve);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] content = classes.get(name);
      if (content == null) throw new ClassNotFoundException(name);
      return defineClass(name, content, 0, content.length);
    }
  }

  static synchronized void report(String... outcome) throws Exception {
    List<String> quoted = new ArrayList<>();
    for (String part : outcome) {
      quoted.add(quote(part));
    }
    String line = token + " [" + String.join(", ", quoted) + "]\n";
    new FileOutputStream(FileDescriptor.out).write(line.getBytes(StandardCharsets.US_ASCII));
    Runtime.getRuntime().halt(0);
  }

  static String quote(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c >= 0x20 && c < 0x7f) out.append(c);
      else out.append(String.format("\\u%04x", (int) c));
    }
    return out.append('"').toString();
  }
}

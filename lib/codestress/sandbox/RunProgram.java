// Compiles and runs one Java program, and writes what its main printed, as the children for Python do. Standard input:
// the token, the counter's package, the steps, whether the source has counters in it, whose it is, the number of
// arguments, the arguments (one a line, Base64), then the source.
import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
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
    Map<String, byte[]> classes = compile(parts[parts.length - 1], counter(head[1], head[2]));
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

  static Map<String, byte[]> compile(String... sources) throws Exception {
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
    for (String source : sources) {
      units.add(new SimpleJavaFileObject(URI.create("memory:///Main.java"), JavaFileObject.Kind.SOURCE) {
        @Override
        public boolean isNameCompatible(String name, JavaFileObject.Kind kind) {
          return true;
        }

        @Override
        public CharSequence getCharContent(boolean ignore) {
          return source;
        }
      });
    }
    List<String> options = List.of("-proc:none", "-nowarn", "-Xlint:none");
    if (!compiler.getTask(null, files, problems, options, null, units).call()) {
      for (Diagnostic<? extends JavaFileObject> problem : problems.getDiagnostics()) {
        if (problem.getKind() == Diagnostic.Kind.ERROR) {
          report("syntax error", "line " + problem.getLineNumber() + ": " + problem.getMessage(null));
        }
      }
      report("syntax error", "does not compile");
    }
    Map<String, byte[]> classes = new LinkedHashMap<>();
    written.forEach((n, content) -> classes.put(n, content.toByteArray()));
    return classes;
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

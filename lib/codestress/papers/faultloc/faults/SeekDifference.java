// Compiles and runs programs of the kit's own, many in one virtual machine (python -m codestress.generation.faults.silent).
// Reads lines CLASS SOURCE RUN…, base64 but for the class, a run's arguments separated by tabs; writes for each, in
// base64, what its runs printed and how they failed.
import java.io.ByteArrayOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

public class SeekDifference {
    static class Source extends SimpleJavaFileObject {
        final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignore) {
            return text;
        }
    }

    static class Bytes extends SimpleJavaFileObject {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Bytes(String name) {
            super(URI.create("mem:///" + name + ".class"), Kind.CLASS);
        }

        @Override
        public java.io.OutputStream openOutputStream() {
            return out;
        }
    }

    static Map<String, Bytes> compile(JavaCompiler compiler, String name, String text) {
        Map<String, Bytes> made = new HashMap<>();
        JavaFileManager manager = new ForwardingJavaFileManager<JavaFileManager>(
                compiler.getStandardFileManager(null, null, null)) {
            @Override
            public JavaFileObject getJavaFileForOutput(Location place, String cls, JavaFileObject.Kind kind, FileObject near) {
                Bytes bytes = new Bytes(cls);
                made.put(cls, bytes);
                return bytes;
            }
        };
        boolean done = compiler.getTask(new java.io.StringWriter(), manager, null, List.of("-proc:none", "-nowarn"), null,
                List.of(new Source(name, text))).call();
        return done ? made : null;
    }

    @SuppressWarnings("removal")
    static String run(Map<String, Bytes> made, String name, String[] args) throws Exception {
        ClassLoader loader = new ClassLoader() {
            @Override
            protected Class<?> findClass(String wanted) throws ClassNotFoundException {
                Bytes bytes = made.get(wanted);
                if (bytes == null) {
                    throw new ClassNotFoundException(wanted);
                }
                byte[] code = bytes.out.toByteArray();
                return defineClass(wanted, code, 0, code.length);
            }
        };
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream before = System.out;
        String[] failure = {""};
        System.setOut(new PrintStream(said, true));
        Thread thread = new Thread(null, () -> {
            try {
                loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) args);
            } catch (java.lang.reflect.InvocationTargetException error) {
                failure[0] = error.getCause().getClass().getName();
            } catch (Throwable error) {
                failure[0] = error.getClass().getName();
            }
        }, "run", 1 << 24);
        thread.setDaemon(true);
        thread.start();
        thread.join(1500);
        if (thread.isAlive()) {
            thread.stop();
            failure[0] = "endless";
        }
        System.setOut(before);
        return said.toString(StandardCharsets.UTF_8) + "|" + failure[0];
    }

    public static void main(String[] given) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            String[] parts = line.split(" ");
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            Map<String, Bytes> made = compile(compiler, parts[0], text);
            StringBuilder out = new StringBuilder();
            if (made == null) {
                out.append("does not compile");
            }
            for (int i = 2; made != null && i < parts.length; i++) {
                String run = new String(Base64.getDecoder().decode(parts[i]), StandardCharsets.UTF_8);
                out.append(run(made, parts[0], run.split("\t", -1))).append("\n");
            }
            System.out.println(Base64.getEncoder().encodeToString(out.toString().getBytes(StandardCharsets.UTF_8)));
        }
    }
}

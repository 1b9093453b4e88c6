// Compiles and runs programs of the kit's own, many in one virtual machine (silent.py).
// Takes the longest time of a run in milliseconds; reads lines CLASS SOURCE RUN…, base64 but for the class, a run's
// arguments separated by tabs; writes for each, in base64, what its runs printed and how they failed.
import java.io.ByteArrayOutputStream;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
    static final int TOGETHER = 100;

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

    record Job(String name, String text, String[] runs) {
        static Job parsed(String line) {
            String[] parts = line.split(" ");
            String[] runs = new String[parts.length - 2];
            for (int i = 0; i < runs.length; i++) {
                runs[i] = text(parts[i + 2]);
            }
            return new Job(parts[0], text(parts[1]), runs);
        }

        static String text(String packed) {
            return new String(Base64.getDecoder().decode(packed), StandardCharsets.UTF_8);
        }
    }

    static Map<String, Bytes> compile(JavaCompiler compiler, Collection<Job> jobs) {
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
        List<Source> sources = jobs.stream().map(job -> new Source(job.name, job.text)).toList();
        boolean done = compiler.getTask(new java.io.StringWriter(), manager, null, List.of("-proc:none", "-nowarn"), null,
                sources).call();
        return done ? made : null;
    }

    @SuppressWarnings("removal")
    static String run(Map<String, Bytes> made, String name, String[] args, long limit) throws Exception {
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
        thread.join(limit);
        if (thread.isAlive()) {
            thread.stop();
            failure[0] = "endless";
        }
        System.setOut(before);
        return said.toString(StandardCharsets.UTF_8) + "|" + failure[0];
    }

    // Neighbours whose classes have different names are compiled together, which takes a third of the time; where one of
    // them does not compile, each alone.
    public static void main(String[] given) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Map<String, Job> batch = new LinkedHashMap<>();
        String line;
        while ((line = in.readLine()) != null) {
            Job job = Job.parsed(line);
            if (batch.size() == TOGETHER || batch.containsKey(job.name)) {
                compileAndRun(compiler, batch.values(), Long.parseLong(given[0]));
                batch.clear();
            }
            batch.put(job.name, job);
        }
        compileAndRun(compiler, batch.values(), Long.parseLong(given[0]));
    }

    static void compileAndRun(JavaCompiler compiler, Collection<Job> batch, long limit) throws Exception {
        Map<String, Bytes> together = compile(compiler, batch);
        for (Job job : batch) {
            Map<String, Bytes> made = together != null || batch.size() == 1 ? together : compile(compiler, List.of(job));
            StringBuilder out = new StringBuilder(made == null ? "does not compile" : "");
            for (String run : made == null ? new String[0] : job.runs) {
                out.append(run(made, job.name, run.split("\t", -1), limit)).append("\n");
            }
            System.out.println(Base64.getEncoder().encodeToString(out.toString().getBytes(StandardCharsets.UTF_8)));
        }
    }
}

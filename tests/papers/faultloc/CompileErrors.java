// What the compiler has against programs, many in one virtual machine. Reads lines CLASS SOURCE, the source in base64;
// writes for each the keys of its errors, each with its line, with flow analysis also where a type is not to be had.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

public class CompileErrors {
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

    public static void main(String[] given) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileManager manager = compiler.getStandardFileManager(null, null, null);
        List<String> options = List.of("-proc:none", "-nowarn", "-Xmaxerrs", "10000", "-XDshould-stop.ifError=FLOW",
                "-XDshould-stop.ifNoError=FLOW", "-implicit:none");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            String[] parts = line.split(" ");
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
            compiler.getTask(Writer.nullWriter(), manager, found, options, null, List.of(new Source(parts[0], text))).call();
            System.out.println("errors:" + found.getDiagnostics().stream()
                    .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                    .map(one -> one.getLineNumber() + "=" + one.getCode()).collect(Collectors.joining(",")));
        }
    }
}

// Attacks that the probe of the sandbox makes as Java (probe.py); all of them must fail.
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.PosixFilePermissions;
class Attack {
  interface Attempt { String make() throws Throwable; }
  static void tried(String name, Attempt attempt) {
    try { System.out.println(name + attempt.make()); } catch (Throwable refused) { }
  }
  static String mode(String path, String mode) throws Throwable {
    Files.setPosixFilePermissions(Path.of(path), PosixFilePermissions.fromString(mode));
    return "";
  }
  static String send(SocketAddress address) throws Throwable {
    try (SocketChannel one = SocketChannel.open(address)) { return ""; }
  }
  public static void main(String[] a) {
    InetAddress here = InetAddress.getLoopbackAddress();
    tried("read ", () -> Files.readString(Path.of(a[0])));
    tried("written", () -> Files.writeString(Path.of(a[1]), "x").toString());
    tried("mode", () -> mode(a[0], "rw-r-----"));
    tried("device", () -> mode("/dev/null", "rw-rw-rw-"));
    tried("tcp", () -> send(new InetSocketAddress(here, Integer.parseInt(a[2]))));
    tried("udp", () -> {
      try (DatagramChannel one = DatagramChannel.open(StandardProtocolFamily.INET)) {
        return "" + one.send(ByteBuffer.wrap(new byte[1]), new InetSocketAddress(here, Integer.parseInt(a[3])));
      }
    });
    tried("unix", () -> send(UnixDomainSocketAddress.of(a[4])));
    tried("killed", () -> "" + ProcessHandle.of(Long.parseLong(a[5])).get().destroyForcibly());
    tried("started", () -> "" + new ProcessBuilder("/bin/true").start().waitFor());
  }
}

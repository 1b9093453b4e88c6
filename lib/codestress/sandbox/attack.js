// Attacks that the probe of the sandbox makes as JavaScript (probe.py); all of them must fail.
function f(secret, mark, tcp, udp, unix, victim) {
  const done = [];
  const {require} = process.mainModule;
  const fs = require("node:fs");
  function tried(name, attempt) {
    try { done.push(name + (attempt() ?? "")); } catch {}
  }
  function socket(kind, wrap, request, ...address) {
    const binding = process.binding(kind + "_wrap");
    const made = new binding[wrap](binding.constants?.SOCKET);
    if (request) return void made.connect(new binding[request](), ...address);
    made.connect(...address);
    made.send(new binding.SendWrap(), [Buffer.from("x")], 1, false);
  }
  tried("read ", () => fs.readFileSync(secret, "utf8"));
  tried("written", () => fs.writeFileSync(mark, "x"));
  tried("mode", () => fs.chmodSync(secret, 0o640));
  tried("device", () => fs.chmodSync("/dev/null", 0o666));
  tried("tcp", () => socket("tcp", "TCP", "TCPConnectWrap", "127.0.0.1", Number(tcp)));
  tried("udp", () => socket("udp", "UDP", "", "127.0.0.1", Number(udp)));
  tried("unix", () => socket("pipe", "Pipe", "PipeConnectWrap", unix));
  tried("killed", () => void process.kill(Number(victim), "SIGKILL"));
  tried("started", () => { if (!require("node:child_process").spawnSync("/bin/true").pid) throw 0; });
  return done;
}

// Runs one JavaScript program and writes what it returns, as the children for Python do. Its standard input holds the
// token, then a JSON object: source, function, arguments, steps, the name of their counter. Line 1 of the output: the token, then JSON.
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");

const input = fs.readFileSync(0, "utf8");
const cut = input.indexOf("\n");
const token = input.slice(0, cut);
const program = JSON.parse(input.slice(cut + 1));
const LARGEST = 200000;
// Held here, whatever the program puts in their place.
const { writeSync } = fs;
const exit = process.reallyExit.bind(process);

class Refused {
  constructor(...outcome) {
    this.outcome = outcome;
  }
}

function report(...outcome) {
  writeSync(3, `${token} ${JSON.stringify(outcome).replace(/[\u007f-\uffff]/g, escaped)}\n`);
  exit(0);
}

function escaped(character) {
  return "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0");
}

// The same tags as sandbox/data.py. Whole numbers are integers: JavaScript does not tell 1 from 1.0.
function encode(value) {
  let left = LARGEST;
  const open = new Set();
  function put(item) {
    if (--left < 0) throw new Refused("output limit", "too many elements");
    if (item === null || item === undefined || typeof item === "boolean" || typeof item === "string") return item ?? null;
    if (typeof item === "number") {
      if (Number.isSafeInteger(item)) return item + 0;
      return { F: Number.isNaN(item) ? "nan" : String(item).replace("Infinity", "inf") };
    }
    if (typeof item === "bigint") return { i: (item < 0n ? "-0x" + (-item).toString(16) : "0x" + item.toString(16)) };
    if (typeof item !== "object") throw new Refused("not data", typeof item);
    if (open.has(item)) throw new Refused("not data", "a value nested in itself");
    open.add(item);
    let encoded;
    const kind = Object.prototype.toString.call(item);
    if (Array.isArray(item)) encoded = Array.from({ length: item.length }, (_, i) => put(item[i]));
    else if (kind === "[object Map]") encoded = { d: [...Map.prototype.entries.call(item)].map(([k, v]) => [put(k), put(v)]) };
    else if (kind === "[object Set]") encoded = { s: [...Set.prototype.values.call(item)].map(put) };
    else if (kind === "[object Object]") encoded = { d: Object.keys(item).map((k) => [k, put(item[k])]) };
    else throw new Refused("not data", kind.slice(8, -1));
    open.delete(item);
    return encoded;
  }
  return put(value);
}

function decode(document) {
  if (Array.isArray(document)) return document.map(decode);
  if (document === null || typeof document !== "object") return document;
  const [tag, content] = Object.entries(document)[0];
  const decoders = {
    i: (c) => Number(BigInt(c.replace("-", ""))) * (c.startsWith("-") ? -1 : 1),
    F: Number,
    t: (c) => c.map(decode),
    d: (c) => Object.fromEntries(c.map(([k, v]) => [decode(k), decode(v)])),
    s: (c) => new Set(c.map(decode)),
  };
  return decoders[tag](content);
}

let left = program.steps;
const outOfSteps = `${token} ["step limit", "more than ${program.steps.toLocaleString("en")} loop rounds and calls"]\n`;
Object.defineProperty(globalThis, program.counter, {
  value: () => {
    if (--left < 0) {
      writeSync(3, outOfSteps);
      exit(0);
    }
  },
});
if (!program.own) {
  // What would compile or load code that has no counter in it. (`eval` is refused by an option of the command.)
  for (const name of ["mainModule", "binding", "_linkedBinding", "getBuiltinModule", "dlopen", "execve"]) delete process[name];
  delete globalThis.WebAssembly;
}
try {
  let script;
  try {
    script = new vm.Script(program.source, { filename: "<program>" });
  } catch (error) {
    report("syntax error", String(error.message));
  }
  if (!program.counted) report("tampered", "its steps cannot be counted");
  script.runInThisContext();
  const called = new vm.Script(`(${program.function || "() => null"})`).runInThisContext();
  report("returned", encode(called(...program.arguments.map(decode))));
} catch (error) {
  if (error instanceof Refused) report(...error.outcome);
  report("raised", String(error?.name ?? typeof error), String(error?.message ?? error).slice(0, 200));
}

// Runs JavaScript programs and writes their results, as the children for Python do. Standard input holds the token, then
// a line for each program: a JSON object with its source, function, arguments, and whether it is the kit's own. A line of
// output holds the token, then JSON. Several programs come together only if they are the kit's own; they run in order.
"use strict";
const fs = require("node:fs");
const vm = require("node:vm");

const [token, ...programs] = fs.readFileSync(0, "utf8").split("\n").map((line, number) => (number ? JSON.parse(line) : line));
const LARGEST = 200000;
// Saved here, because a program may replace the originals.
const { writeSync } = fs;
const exit = process.reallyExit.bind(process);

class Refused {
  constructor(...outcome) {
    this.outcome = outcome;
  }
}

function report(...outcome) {
  writeSync(3, `${token} ${JSON.stringify(outcome).replace(/[\u007f-\uffff]/g, escaped)}\n`);
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
    else if (kind === "[object Map]") encoded = { d: [...Map.prototype.entries.call(item)].map(([k, v]) => [key(k), put(v)]) };
    else if (kind === "[object Set]") encoded = { s: [...Set.prototype.values.call(item)].map(key) };
    else if (kind === "[object Object]") encoded = { d: Object.keys(item).map((k) => [k, put(item[k])]) };
    else throw new Refused("not data", kind.slice(8, -1));
    open.delete(item);
    return encoded;
  }
  function key(item) {
    if (typeof item === "object" && item !== null) throw new Refused("not data", "a Map or Set of objects");
    return put(item);
  }
  return put(value);
}

function decode(document) {
  if (Array.isArray(document)) return document.map(decode);
  if (document === null || typeof document !== "object") return document;
  const [tag, content] = Object.entries(document)[0];
  const decoders = {
    i: (c) => Number(BigInt(c.replace("-", ""))) * (c.startsWith("-") ? -1 : 1),
    F: (c) => Number(c.replace("inf", "Infinity")),
    t: (c) => c.map(decode),
    d: (c) => Object.fromEntries(c.map(([k, v]) => [decode(k), decode(v)])),
    s: (c) => new Set(c.map(decode)),
  };
  return decoders[tag](content);
}

// Returns a function that loads the program and returns the program's function. The kit's own programs run in a scope of
// their own, so that the next program may use the same names.
function load(program) {
  const called = program.function || "() => null";
  const script = new vm.Script(program.source, { filename: "<program>" });
  if (program.own) return () => new vm.Script(`(() => {\n${program.source}\n;return (${called});})()`).runInThisContext();
  return () => {
    script.runInThisContext();
    return new vm.Script(`(${called})`).runInThisContext();
  };
}

function run(program) {
  let loaded;
  try {
    loaded = load(program);
  } catch (error) {
    const line = /^<program>:(\d+)/.exec(error.stack)?.[1];
    return ["syntax error", (line ? `line ${line}: ` : "") + error.message];
  }
  try {
    return ["returned", encode(loaded()(...program.arguments.map(decode)))];
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    return ["raised", String(error?.name ?? typeof error), String(error?.message ?? error).slice(0, 200)];
  }
}

const globals = () => Object.getOwnPropertyDescriptors(globalThis);
const before = globals();

// Deletes the names that a program added to the global object; false if the program changed a name that was there before.
// Changes within these objects (prototypes, Math) would stay: the kit's own programs, and programs made of their lines,
// make no such changes.
function cleared() {
  const now = globals();
  const added = Object.getOwnPropertyNames(globalThis).filter((name) => !Object.hasOwn(before, name));
  const same = ([name, was]) => ["value", "get", "set"].every((part) => Object.is(was[part], now[name]?.[part]));
  return added.every((name) => Reflect.deleteProperty(globalThis, name)) && Object.entries(before).every(same);
}

for (const program of programs) {
  if (!program.own) {
    // These names would load other code. (An option of the command refuses `eval`.)
    for (const name of ["mainModule", "binding", "_linkedBinding", "getBuiltinModule", "dlopen", "execve"]) delete process[name];
    delete globalThis.WebAssembly;
  }
  report(...run(program));
  if (!program.own || !cleared()) exit(0);
}
exit(0);

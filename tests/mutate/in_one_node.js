// Runs programs, each in a context of its own: [code, call] pairs come in, how each ended goes out.
const { inspect } = require("util"), vm = require("vm");
const jobs = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(jobs.map(([code, call]) => {
  try {
    const value = vm.runInNewContext(`${code}\n;${call}`, { console: { log: () => {} } }, { timeout: 20000 });
    return "returned " + inspect(value, { depth: null });
  } catch (error) { return "raised " + error.name; }
})));

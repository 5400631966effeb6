// SPDX-License-Identifier: MIT
// Runs the trace processor of Perfetto's interface, whose folder is the first
// argument. It reads requests from stdin and writes answers to stdout, in the format
// of trace_processor.py, which starts it.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const folder = process.argv[2];

// The bundle is a browser's worker, and finds these objects there.
process.type = "renderer"; // it refuses to run where it sees Node
globalThis.self = globalThis;
globalThis.location = { href: "" };
globalThis.WorkerGlobalScope = class {};
globalThis.XMLHttpRequest = class {
    open(method, name) {
        this.path = path.join(folder, name);
    }
    send() {
        this.response = fs.readFileSync(this.path);
    }
};
console.log = console.error; // stdout has answers alone

const port = { postMessage: (answer) => process.stdout.write(answer) };
const bundle = path.join(folder, "engine_bundle.js");
vm.runInThisContext(fs.readFileSync(bundle, "utf8"), bundle);
globalThis.onmessage({ data: port });
process.stdin.on("data", (requests) => port.onmessage({ data: requests }));

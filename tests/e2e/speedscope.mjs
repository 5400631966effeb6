// SPDX-License-Identifier: MIT
// Reads a file with the code of speedscope. `node speedscope.mjs PACKAGE FILE` prints
// each profile with the weights of its frames, as JSON. speedscope.py calls it.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, file] = process.argv.slice(2);
const release = path.join(folder, "dist", "release");
const [name] = fs.readdirSync(release).filter((each) => /^speedscope-\w+\.js$/.test(each));
const bundle = fs.readFileSync(path.join(release, name), "utf8");

// The page has a function that opens the file in its address. The last statement of
// the page's code shows the page, and is replaced by a use of that function.
const [, opens] = /loadFileFromBase64:\(\w+,\w+\)=>\{this\.loadProfile\(\(\)=>([\w$]+)\(/.exec(bundle);
const ending = /;[\w$]+\([^;]*,document\.body,[^;]*\);\}\)\(\);/;
if (!ending.test(bundle)) throw new Error("speedscope is built in another way now");

// Replaces all other objects of a browser.
const anything = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => "" : anything),
    apply: () => anything,
    construct: () => anything,
    set: () => true,
});
globalThis.window = globalThis;
for (const each of ["addEventListener", "document", "localStorage", "location", "matchMedia"])
    globalThis[each] ??= anything;
console.log = console.error; // stdout has the answer alone

vm.runInThisContext(bundle.replace(ending, `;globalThis.opens=${opens}})();`), name);
const group = await globalThis.opens(path.basename(file), fs.readFileSync(file).toString("base64"));
const profiles = group.profiles.map((profile) => {
    const frames = [];
    profile.forEachFrame((frame) =>
        frames.push([
            frame.name,
            frame.file ?? null,
            frame.line ?? null,
            frame.getSelfWeight(),
            frame.getTotalWeight(),
        ]),
    );
    return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames };
});
process.stdout.write(JSON.stringify(profiles));

// Golden vectors of schema/vectors, and spoiled ones, in the module of a page:
// node vectors.mjs TESTS.wasm SCHEMA
import { execFileSync } from "node:child_process";
import { webcrypto } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DiarioError, Engine, MemorySlot } from "../../Sources/Web/engine.js";

// Older ones than node 19 have it elsewhere.
globalThis.crypto ??= webcrypto;
const [, , file, schema] = process.argv;
const module = new WebAssembly.Module(fs.readFileSync(file));
const fresh = (count = 8) =>
  new Engine(module, Array.from({ length: count }, () => new MemorySlot()));
const read = (name) => JSON.parse(fs.readFileSync(path.join(schema, "vectors", name), "utf8"));
const unhex = (text) => new Uint8Array(Buffer.from(text, "hex"));
const failures = [];

/** Compares, and notes what differs; at most a few are told. */
function expect(isRight, what, told) {
  if (!isRight) failures.push(`${what}: ${String(told).slice(0, 400)}`);
}

function rows() {
  const engine = fresh();
  const { schemas, cases } = read("rows-1.json");
  for (const text of schemas) {
    expect(engine.raw("diario_vector_schema", text) === 0, "schema", engine.text());
  }
  for (const row of cases) {
    const code = engine.raw(
      "diario_vector_row",
      [row.line, row.replica, row.sequence, row.batchFirst, row.batchCount, row.clock, row.at,
        row.base, row.seed, row.acceptedAt].join("\n"),
    );
    const parts = [row.publicPart, row.personalPart, row.salt, row.commitment, row.row,
      row.eventHash, row.leaf];
    const wanted = parts.map((part) => part ?? "").join("\n");
    expect(code === 0 && engine.text() === wanted, `row: ${row.shows}`, engine.text());
  }
  return cases.length;
}

function messages() {
  const engine = fresh();
  const { cases } = read("messages-1.json");
  for (const message of cases) {
    const code = engine.raw("diario_vector_message", unhex(message.bytes));
    expect(code === 0, `message: ${message.fields.kind}`, engine.text());
  }
  return cases.length;
}

function blocks() {
  const engine = fresh();
  const { blocks, compressed, corrupt } = read("blocks-1.json");
  const check = (block, rebuilds, wanted) => {
    const code = engine.raw("diario_vector_block", unhex(block.block), rebuilds);
    expect(code === 0 && engine.text() === wanted, `block: ${block.shows}`, engine.text());
  };
  for (const block of blocks) check(block, 1, "");
  for (const block of compressed) check(block, 0, "");
  for (const block of corrupt) check(block, 0, block.failure);
  return blocks.length + compressed.length + corrupt.length;
}

function segments() {
  const engine = fresh();
  const { segments } = read("segments-1.json");
  for (const segment of segments) {
    const code = engine.raw(
      "diario_vector_segment",
      unhex(segment.segment),
      unhex(segment.sidecar),
    );
    const personal = (row) =>
      row.personalPart != null ? `p${row.personalPart}`
        : row.commitment != null ? `e${row.commitment}` : "";
    const wanted = segment.rows
      .map((row) => `${row.type} ${row.replica} ${row.sequence} ${row.acceptedAt ?? ""} `
        + `${row.isAuthority ? 1 : 0} ${row.publicPart} ${personal(row)}\n`)
      .join("");
    expect(code === 0 && engine.text() === wanted, `segment: ${segment.shows}`, engine.text());
  }
  return segments.length;
}

const walk = (folder) =>
  fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? walk(path.join(folder, entry.name)) : [path.join(folder, entry.name)]);

/** What is no file of a page: locks, and read models with their links. */
const leftOut = /(^|\/)(lock|build|serving|staging|sealing)$|\.lock$|\.sqlite/;

/** Work that takes several steps, to its end; what it told last. */
function finish(engine, name, input) {
  const job = engine.begin(name, input);
  while (engine.step(job, 40));
  return JSON.parse(engine.text() || "null");
}

/** The golden directories, as they lie: each space is opened and verified. */
function directories() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "diario-vectors-"));
  execFileSync("tar", ["xzf", path.join(schema, "vectors/directory-1.tar.gz"), "-C", folder]);
  let count = 0;
  for (const [name, spaces] of Object.entries(read("directory-1.json"))) {
    const base = path.join(folder, "directory-1", name, ".diario");
    for (const space of spaces) {
      count += 1;
      const engine = fresh(1024);
      engine.takePool();
      for (const found of walk(base)) {
        const relative = path.relative(base, found);
        if (leftOut.test(relative)) continue;
        const told = Buffer.concat([Buffer.from(`${relative}\0`), fs.readFileSync(found)]);
        const code = engine.raw("diario_vector_file", new Uint8Array(told));
        expect(code === 0, relative, engine.text());
      }
      try {
        engine.call("open", { space: space.id });
        const status = engine.call("status");
        const verified = finish(engine, "verify");
        const isRight = status.head === space.head && status.pending === space.pending
          && verified.ok && verified.root === space.root
          && status.head + status.pending === space.events;
        expect(isRight, `directory ${name}`, JSON.stringify({ status, verified, space }));
      } catch (error) {
        if (!(error instanceof DiarioError)) throw error;
        failures.push(`directory ${name}: ${error.message}`);
      }
    }
  }
  fs.rmSync(folder, { recursive: true });
  return count;
}

/** Sizes that 32 bits do not hold, and the largest of each width, put at each place. */
const fills = [
  [255, 255, 255, 255], [255, 255, 255, 127], [0, 0, 0, 128], [1, 0, 0, 128],
  [255, 255, 255, 255, 255, 255, 255, 255], [255, 255, 255, 255, 255, 255, 255, 127],
  [0, 0, 0, 0, 1, 0, 0, 0], [255, 255, 255, 255, 7], [255, 255, 255, 255, 15],
  [255, 255, 255, 255, 255, 255, 255, 255, 127], [128, 128, 128, 128, 16],
];

function spoiled() {
  let engine = fresh();
  let count = 0;
  const attempt = (what, body) => {
    count += 1;
    try {
      body(engine);
    } catch (error) {
      failures.push(`spoiled ${what}: ${error.stack}`);
      engine = fresh();
    }
  };
  const spoil = (bytes, size, every, body) => {
    let number = 0;
    for (let at = 0; at < Math.min(bytes.length, size); at += 1) {
      for (const fill of fills) {
        number += 1;
        if (at + fill.length > bytes.length || number % every !== 0) continue;
        const copy = bytes.slice();
        copy.set(fill, at);
        body(copy);
      }
    }
  };
  for (const message of read("messages-1.json").cases) {
    spoil(unhex(message.bytes), 400, 1, (bytes) =>
      attempt("message", (engine) => engine.raw("diario_vector_message", bytes)));
  }
  for (const block of read("blocks-1.json").blocks) {
    spoil(unhex(block.block), 600, 1, (bytes) =>
      attempt("block", (engine) => engine.raw("diario_vector_block", bytes, 0)));
  }
  for (const segment of read("segments-1.json").segments) {
    const sidecar = unhex(segment.sidecar);
    spoil(unhex(segment.segment), 1500, 5, (bytes) =>
      attempt("segment", (engine) => engine.raw("diario_vector_segment", bytes, sidecar)));
  }
  return count;
}

const told = Object.entries({ rows, messages, blocks, segments, directories, spoiled })
  .map(([name, check]) => `${check()} ${name}`)
  .join(", ");
for (const failure of failures.slice(0, 10)) console.error(failure);
console.log(`vectors.mjs: ${told}; ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);

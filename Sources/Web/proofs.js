// Proofs, checked by the browser alone: schema/format/proofs.md, sections 3 and 4.

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (bytes) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The hash of a node of the tree. */
async function node(left, right) {
  return hexOf(await crypto.subtle.digest("SHA-256", bytesOf(`01${left}${right}`)));
}

/** The hashes of an inclusion proof from the leaf up, and on which side of the path each lies. */
export function stepsOf({ position, size, path }) {
  let first = BigInt(position) - 1n;
  let last = BigInt(size) - 1n;
  return path.map((hash) => {
    const isLeft = (first & 1n) === 1n || first === last;
    if (isLeft) {
      while ((first & 1n) === 0n && first !== 0n) [first, last] = [first >> 1n, last >> 1n];
    }
    [first, last] = [first >> 1n, last >> 1n];
    return { hash, side: isLeft ? "left" : "right" };
  });
}

/** How many hashes the path of an index has. */
function lengthOf(position, size) {
  let [index, rest, count] = [BigInt(position) - 1n, BigInt(size), 0];
  while (rest > 1n) {
    let half = 1n;
    while (2n * half < rest) half *= 2n;
    [index, rest] = index < half ? [index, half] : [index - half, rest - half];
    count += 1;
  }
  return count;
}

/**
 * True if an inclusion proof holds: its leaf is in the tree with its root. Whoever checks it must
 * know root and size from elsewhere.
 */
export async function checkProof(proof) {
  const { position, size, leaf, root, path } = proof;
  if (proof.proof !== "inclusion" || !(position >= 1 && position <= size)) return false;
  const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
  if (![leaf, root, ...path].every(isHash)) return false;
  if (path.length !== lengthOf(position, size)) return false;
  let hash = leaf;
  for (const step of stepsOf(proof)) {
    hash = step.side === "left" ? await node(step.hash, hash) : await node(hash, step.hash);
  }
  return hash === root;
}

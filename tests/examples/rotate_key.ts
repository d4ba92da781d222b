/**
 * Rotates the key of a client, and prints the JWK Set to publish. `rotate_key.ts FILE add`
 * creates a key, `sign` signs with the newest one, and `remove` removes all others.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import type { PrivateJwk } from "@oauth-helper/client";

const [file = "", step = ""] = process.argv.slice(2);

const text = await readFile(file, "utf8").catch((error) => {
  if (step !== "add" || error.code !== "ENOENT") throw error;
  return '{ "keys": [] }';
});
const stored: { kid?: string | undefined; keys: PrivateJwk[] } = JSON.parse(
  text,
);
if (step === "add") {
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const { key_ops: _, ...jwk } = await crypto.subtle.exportKey(
    "jwk",
    privateKey,
  );
  const kid = crypto.randomUUID();
  stored.keys.push({ ...jwk, kid, use: "sig", alg: "ES256" });
  stored.kid ??= kid;
}
if (step === "sign") stored.kid = stored.keys.at(-1)?.kid;
if (step === "remove") {
  stored.keys = stored.keys.filter(({ kid }) => kid === stored.kid);
}
// The program that signs reads a whole file, before or after.
await writeFile(`${file}.new`, JSON.stringify(stored), { mode: 0o600 });
await rename(`${file}.new`, file);
// By name: an RSA key has six private members.
const keys = stored.keys.map(({ kid, use, alg, kty, crv, x, y, n, e }) => {
  return { kid, use, alg, kty, crv, x, y, n, e };
});
console.log(JSON.stringify({ keys }));

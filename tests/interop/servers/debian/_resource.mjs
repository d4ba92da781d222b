/** A server that runs as a process of its own, and introspection of each token. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { upstream } from "../_shared/resource.mjs";

export { origin, serve, upstream } from "../_shared/resource.mjs";

/** An empty folder for whatever the server keeps. */
export const data = `${process.cwd()}/data`;
rmSync(data, { recursive: true, force: true });
mkdirSync(data);

/** Introspects tokens as a client of the server. */
export const introspection = (url, id, secret) => async (token) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ token }),
  });
  const { active, scope = "" } = response.ok ? await response.json() : {};
  return active ? scope.split(" ") : undefined;
};

/** Runs a program that ends with this one; resolves when it listens. */
export async function run([program, ...args], env = {}) {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.on("exit", (code) => process.exit(code ?? 1));
  process.on("exit", () => child.kill("SIGKILL"));
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => process.exit());
  }
  while (!await fetch(upstream, { redirect: "manual" }).catch(() => {})) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

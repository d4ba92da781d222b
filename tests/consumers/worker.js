/** Loads the client in workerd, and answers with the report. */
import { runScenario } from "./scenario.js";

// Clocks stand still in workerd but for input and output, so the time is asked
// of the server, and what asking takes is deducted. Modules are compiled when
// workerd starts, so this is what running them takes.
async function ask(server) {
  return Number(await (await fetch(`${server}/time`)).text());
}

export default {
  async fetch(request) {
    const server = new URL(request.url).searchParams.get("server");
    await ask(server);
    const before = await ask(server);
    const started = await ask(server);
    const client = await import("./client.js");
    const done = await ask(server);
    const importMs = Math.max(0, done - started - (started - before));
    const report = await runScenario(client, server);
    return Response.json({ importMs, report });
  },
};

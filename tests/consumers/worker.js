/** Loads the client in workerd, and responds with the report. */
import { runScenario } from "./scenario.js";

// The clock of workerd advances with I/O only, so the time is requested from the
// server, and the duration of such a request is deducted. Modules are compiled when
// workerd starts, so this measures only how long they run.
async function fetchTime(server) {
  return Number(await (await fetch(`${server}/time`)).text());
}

export default {
  async fetch(request) {
    const server = new URL(request.url).searchParams.get("server");
    await fetchTime(server);
    const before = await fetchTime(server);
    const started = await fetchTime(server);
    const { browser, doctor, stores, testing, ...client } = await import(
      "./client.js"
    );
    const done = await fetchTime(server);
    const importMs = Math.max(0, done - started - (started - before));
    const entryPoints = { browser, doctor, stores, testing };
    const report = await runScenario(client, server, entryPoints);
    return Response.json({ importMs, report });
  },
};

/** Loads the client in workerd, and responds with the report. */
import { runScenario } from "./scenario.js";

export default {
  async fetch(request) {
    const { browser, doctor, stores, testing, ...client } = await import(
      "./client.js"
    );
    const server = new URL(request.url).searchParams.get("server");
    const entryPoints = { browser, doctor, stores, testing };
    const report = await runScenario(client, server, entryPoints);
    return Response.json({ report });
  },
};

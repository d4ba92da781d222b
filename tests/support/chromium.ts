/** Tabs in headless Chromium, by its debugging interface. */

const PROGRAMS = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/** A running browser. */
export interface IBrowser extends AsyncDisposable {
  /** Opens a tab; returns its identifier. */
  open(url: string): Promise<string>;
  /** Closes a tab. */
  close(id: string): Promise<void>;
}

function spawn(directory: string): Deno.ChildProcess {
  for (const program of PROGRAMS) {
    try {
      return new Deno.Command(program, {
        args: [
          "--headless",
          "--disable-gpu",
          "--no-first-run",
          // Chromium does not run as root with its sandbox.
          ...(Deno.build.os !== "windows" && Deno.uid() === 0
            ? ["--no-sandbox"]
            : []),
          "--remote-debugging-port=0",
          `--user-data-dir=${directory}`,
          "about:blank",
        ],
        stdout: "null",
        stderr: "piped",
      }).spawn();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new Error(`None of ${PROGRAMS.join(", ")} is installed`);
}

/** Starts a browser with a profile of its own. */
export async function startBrowser(): Promise<IBrowser> {
  const directory = await Deno.makeTempDir();
  const child = spawn(directory);
  const started = Promise.withResolvers<string>();
  const reading = (async () => {
    let text = "";
    const chunks = child.stderr.pipeThrough(new TextDecoderStream());
    for await (const chunk of chunks) {
      text += chunk;
      const [, host] = /DevTools listening on ws:\/\/([^/]+)/.exec(text) ?? [];
      if (host) started.resolve(host);
    }
    started.reject(new Error(text));
  })();
  const host = await started.promise;
  const request = async (path: string, method: string) => {
    const response = await fetch(`http://${host}/json/${path}`, { method });
    return await response.text();
  };
  return {
    async open(url) {
      const target = await request(`new?${encodeURIComponent(url)}`, "PUT");
      return JSON.parse(target).id;
    },
    async close(id) {
      await request(`close/${id}`, "GET");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await Promise.all([child.status, reading]);
      // Its helper processes may still write for a moment.
      await Deno.remove(directory, { recursive: true }).catch(() => {});
    },
  };
}

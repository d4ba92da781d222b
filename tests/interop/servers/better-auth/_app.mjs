/** An application with better-auth: the user, the page for signing in, the resource. */
import { memoryAdapter } from "better-auth/adapters/memory";
import { getAuthTables } from "better-auth/db";
import { toNodeHandler } from "better-auth/node";
import { createServer } from "node:http";

const { PORT, EMAIL: email, PASSWORD: password } = process.env;
export const origin = `http://127.0.0.1:${PORT}`;

/** The tables, which the adapter keeps in memory. */
const tables = {};

/** Options that every application sets. */
export const common = {
  baseURL: origin,
  secret: crypto.randomUUID() + crypto.randomUUID(),
  database: memoryAdapter(tables),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
};

const page = (text, ...buttons) =>
  new Response(
    `<!DOCTYPE html><p>${text}</p><form method="post">${
      buttons.join("")
    }</form>`,
    { headers: { "Content-Type": "text/html" } },
  );

const PAGES = {
  "/sign-in": {
    form: () =>
      page(
        "Sign in",
        '<input name="email" type="email"><input name="password" type="password">',
        "<button>Sign in</button>",
      ),
    path: "/api/auth/sign-in/email",
    body: Object.fromEntries,
  },
  "/consent": {
    form: () =>
      page(
        "Allow access?",
        '<button name="accept" value="yes">Allow</button>',
        '<button name="accept" value="no">Deny</button>',
      ),
    path: "/api/auth/oauth2/consent",
    body: (form) => ({ accept: form.get("accept") === "yes" }),
  },
};

/** Listens; `routes` are the handlers of the application by their paths. */
export async function listen(auth, clients, routes) {
  for (const { modelName } of Object.values(getAuthTables(auth.options))) {
    tables[modelName] = [];
  }
  await auth.api.signUpEmail({ body: { email, password, name: "Alice Doe" } });

  /** Sends what a page of the application would send with the client's `fetch`. */
  async function submit(request, { path, body }) {
    const { search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set("Content-Type", "application/json");
    headers.delete("Content-Length");
    const sent = body(await request.formData());
    if (search) sent.oauth_query = search.slice(1);
    const response = await auth.handler(
      new Request(origin + path, {
        method: "POST",
        headers,
        body: JSON.stringify(sent),
      }),
    );
    if (response.headers.has("Location")) return response;
    const { url, redirect_uri, ...rest } = await response.json();
    const location = url ?? redirect_uri;
    if (!location) return Response.json(rest, { status: 400 });
    const redirect = new Headers({ Location: location });
    for (const cookie of response.headers.getSetCookie()) {
      redirect.append("Set-Cookie", cookie);
    }
    return new Response(null, { status: 302, headers: redirect });
  }

  function handle(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (PAGES[pathname]) {
      return request.method === "POST"
        ? submit(request, PAGES[pathname])
        : PAGES[pathname].form();
    }
    if (pathname === "/operator/clients") {
      const at = tables[clients]
        .findIndex(({ clientId }) => clientId === searchParams.get("id"));
      tables[clients].splice(at, 1);
      return new Response(null, { status: at < 0 ? 404 : 200 });
    }
    return (routes[pathname] ?? auth.handler)(request);
  }

  createServer(toNodeHandler(handle)).listen(
    PORT,
    "127.0.0.1",
    () => console.log(`${origin}/mcp`),
  );
}

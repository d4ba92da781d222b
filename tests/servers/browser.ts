/**
 * A user with a browser, for tests and the demo: signs in and consents at the
 * development pages of oidc-provider, by fetch, with cookies, forms and redirects.
 */

export interface IBrowserOptions {
  /** Who signs in; default `alice`. */
  login?: string;
  /** Whether the user says no to the client instead of consenting. */
  deny?: boolean;
}

/** Keeps its cookies, so that a second visit finds the user signed in. */
export interface IBrowser {
  /**
   * Goes on from an authorization request until the server sends the user away
   * from its origin; the address that they are sent to, which is not asked.
   */
  authorize(address: string | URL): Promise<URL>;
  /**
   * Goes on from the page for user codes until nothing is left to be filled in;
   * the words of the last page.
   */
  activate(address: string | URL, userCode?: string): Promise<string>;
}

/** A link or a form that the user goes on with. */
interface INext {
  url: URL;
  /** Sent by `POST`; a link is followed by `GET`. */
  form?: URLSearchParams | undefined;
}

/** Where a visit has ended. */
type Ending = { left: URL } | { status: number; text: string };

// A sign-in with consent takes seven; more than this is a loop.
const MAX_PAGES = 20;

function decodeHtml(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

/** An attribute's value in a tag. */
function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : decodeHtml(value);
}

function wordsOf(html: string): string {
  const body = html.replace(/<(style|script|title)[^>]*>.*?<\/\1>/gs, " ");
  return decodeHtml(body.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();
}

/** The page's only form, its empty fields filled in by name; none without one. */
function fillForm(
  html: string,
  page: URL,
  typed: Record<string, string>,
): INext | undefined {
  const action = attribute(/<form[^>]*>/.exec(html)?.[0] ?? "", "action");
  if (action === undefined) return undefined;
  const form = new URLSearchParams();
  for (const [tag] of html.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, "name");
    if (name) form.set(name, attribute(tag, "value") ?? typed[name] ?? "");
  }
  return { url: new URL(action, page), form };
}

function findCancelLink(html: string, page: URL): INext | undefined {
  const tag = /<a [^>]*>(?=\[ Cancel \])/.exec(html)?.[0] ?? "";
  const href = attribute(tag, "href");
  return href === undefined ? undefined : { url: new URL(href, page) };
}

export function createBrowser(options: IBrowserOptions = {}): IBrowser {
  const { login = "alice", deny = false } = options;
  const cookies = new Map<string, { scope: string; pair: string }>();

  function cookieHeader({ origin, pathname }: URL): Record<string, string> {
    const pairs = [...cookies.values()]
      .filter(({ scope }) => `${origin}${pathname}/`.startsWith(scope))
      .map(({ pair }) => pair);
    return pairs.length > 0 ? { Cookie: pairs.join("; ") } : {};
  }

  function keepCookies({ origin }: URL, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = "", name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? "/";
      const scope = origin + path.replace(/\/?$/, "/");
      // The server deletes a cookie by making it empty.
      if (value) cookies.set(`${scope} ${name}`, { scope, pair });
      else cookies.delete(`${scope} ${name}`);
    }
  }

  async function visit(start: URL, userCode: string): Promise<Ending> {
    const typed = { login, password: "any", user_code: userCode };
    let next: INext = { url: start };
    let cancelled = false;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const { url, form } = next;
      const response = await fetch(url, {
        redirect: "manual",
        headers: cookieHeader(url),
        ...form && { method: "POST", body: form },
      });
      keepCookies(url, response.headers);
      const { status } = response;
      const html = await response.text();
      const location = response.headers.get("Location");
      if (location !== null) {
        next = { url: new URL(location, url) };
        if (next.url.origin !== start.origin) return { left: next.url };
        continue;
      }
      // Who has cancelled is shown a form to begin anew, and leaves.
      const filled: INext | undefined = cancelled
        ? undefined
        : fillForm(html, url, typed);
      if (!filled) return { status, text: wordsOf(html) };
      const mayCancel: boolean = deny &&
        filled.form?.get("prompt") === "consent";
      const link = mayCancel ? findCancelLink(html, url) : undefined;
      cancelled = mayCancel;
      next = link ?? filled;
    }
    throw new Error(`${start.origin} sends its user round in circles`);
  }

  return {
    async authorize(address) {
      const ending = await visit(new URL(address), "");
      if ("left" in ending) return ending.left;
      throw new Error(`The user ends at ${ending.status} ${ending.text}`);
    },
    async activate(address, userCode = "") {
      const ending = await visit(new URL(address), userCode);
      if ("text" in ending) return ending.text;
      throw new Error(`The user is sent away to ${ending.left.origin}`);
    },
  };
}

/**
 * A user with a browser, for tests and the demo. The user signs in and consents on
 * the development pages of oidc-provider; the browser handles cookies, forms and
 * redirects with `fetch`.
 */

export interface IBrowserOptions {
  /** The user name. @default "alice" */
  login?: string;
  /** Whether the user denies access. @default false */
  deny?: boolean;
}

/** It keeps its cookies, so that the user signs in once. */
export interface IBrowser {
  /**
   * Opens an authorization request and continues until a redirect leaves the
   * origin; returns the URL of that redirect, which is not requested.
   */
  authorize(url: string | URL): Promise<URL>;
  /**
   * Opens the page for user codes and continues until there is no form; returns
   * the text of the last page.
   */
  activate(url: string | URL, userCode?: string): Promise<string>;
}

/** A link or a form that the user continues with. */
interface INext {
  url: URL;
  /** The form to send with `POST`; a link is requested with `GET`. */
  form?: URLSearchParams | undefined;
}

/** The end of a visit: a redirect to another origin, or a page. */
type Ending = { left: URL } | { status: number; text: string };

// A sign-in with consent requires seven.
const MAX_PAGES = 20;

function decodeHtml(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

/** Returns the value of an attribute of a tag. */
function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : decodeHtml(value);
}

function textOf(html: string): string {
  const body = html.replace(/<(style|script|title)[^>]*>.*?<\/\1>/gs, " ");
  return decodeHtml(body.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();
}

/** Returns the first form of the page, with the empty fields filled in by name. */
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
  /** By origin and name: the servers of the tests need no other scope. */
  const cookies = new Map<string, string>();

  function keepCookies({ origin }: URL, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = "", name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      // The server deletes a cookie with an empty value.
      if (value) cookies.set(`${origin} ${name}`, pair);
      else cookies.delete(`${origin} ${name}`);
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
        headers: {
          Cookie: [...cookies].filter(([name]) =>
            name.startsWith(`${url.origin} `)
          )
            .map(([, pair]) => pair).join("; "),
        },
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
      // After a cancellation, the page has a form to start again.
      const filled: INext | undefined = cancelled
        ? undefined
        : fillForm(html, url, typed);
      if (!filled) return { status, text: textOf(html) };
      const mayCancel: boolean = deny &&
        filled.form?.get("prompt") === "consent";
      const link = mayCancel ? findCancelLink(html, url) : undefined;
      cancelled = mayCancel;
      next = link ?? filled;
    }
    throw new Error(`${start.origin} has more than ${MAX_PAGES} pages`);
  }

  return {
    async authorize(url) {
      const ending = await visit(new URL(url), "");
      if ("left" in ending) return ending.left;
      throw new Error(
        `Expected a redirect to a client, got ${ending.status} ${ending.text}`,
      );
    },
    async activate(url, userCode = "") {
      const ending = await visit(new URL(url), userCode);
      if ("text" in ending) return ending.text;
      throw new Error(
        `Expected a page, got a redirect to ${ending.left.origin}`,
      );
    },
  };
}

/**
 * A user with a browser: follows redirects with cookies, and fills in the forms for
 * signing in and for consent that servers have of their own.
 */

/** The end of a visit: a redirect to the client, a page without a way on, or a closed one. */
export type Ending = { left: URL } | { page: string; isClosed?: boolean };

export interface User {
  /**
   * Goes on until a redirect leads to `home`, which is not requested: to a URL that
   * begins so, or that the function accepts.
   */
  visit(
    url: string | URL,
    home?: string | ((url: URL) => boolean),
  ): Promise<Ending>;
}

export interface UserOptions {
  /** @default false */
  refuses?: boolean;
  /** Closes the first page that is shown, and stays at later ones. @default false */
  closesFirst?: boolean;
  /** Typed where a page has a field for it. */
  userCode?: string;
  /** The user name. @default {that of `LOGIN`} */
  login?: string;
}

interface Choice {
  readonly label: string;
  readonly url: URL;
  /** The form to send; a link has none. */
  readonly body?: URLSearchParams | undefined;
}

const MAX_PAGES = 20;
const REFUSES = /\b(deny|denied|refuse|reject|cancel|abort|decline)\b/i;
const GOES_ON =
  /\b(continue|authorize|approve|allow|accept|sign in|log ?in)\b/i;

export const LOGIN = { email: "alice@example.com", login: "alice" };
export const PASSWORD = "correct horse battery";

function decode(text: string): string {
  return text
    .replace(
      /&#x([0-9a-f]+);/gi,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    )
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function attribute(tag: string, name: string): string | undefined {
  const [found, ...values] = new RegExp(
    `\\s${name}(?:\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+)))?(?=[\\s/>])`,
    "i",
  ).exec(tag) ?? [];
  if (found === undefined) return undefined;
  return decode(values.find((value) => value !== undefined) ?? "");
}

function textOf(html: string): string {
  const body = html.replace(/<(style|script|title)\b.*?<\/\1>/gis, " ");
  return decode(body.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();
}

function typed(
  tag: string,
  name: string,
  { userCode = "", login = LOGIN.login }: UserOptions,
): string {
  const given = attribute(tag, "value") ?? "";
  const type = attribute(tag, "type")?.toLowerCase() ?? "text";
  if (type === "password") return PASSWORD;
  if (type === "email" || /email/i.test(name)) return given || LOGIN.email;
  if (/code/i.test(name) && type === "text") return given || userCode;
  return type === "text" ? given || login : given;
}

/** Returns the buttons of a form, each with what it sends. */
function choicesOf(form: string, page: URL, user: UserOptions): Choice[] {
  const [opening = ""] = /<form\b[^>]*>/i.exec(form) ?? [];
  const fields = new URLSearchParams();
  for (const [tag] of form.matchAll(/<(?:input|textarea|select)\b[^>]*>/gi)) {
    const name = attribute(tag, "name");
    const type = attribute(tag, "type")?.toLowerCase() ?? "";
    if (!name || ["submit", "button", "image", "reset"].includes(type)) {
      continue;
    }
    const isSwitch = type === "checkbox" || type === "radio";
    const isOff = isSwitch && attribute(tag, "checked") === undefined;
    // A radio button that is not the chosen one; a user ticks every box.
    if (isOff && (type === "radio" || REFUSES.test(tag))) continue;
    fields.append(
      name,
      isSwitch ? attribute(tag, "value") ?? "on" : typed(tag, name, user),
    );
  }
  const buttons = [
    ...form.matchAll(/(<button\b[^>]*>)(.*?)<\/button>/gis),
    ...form.matchAll(/(<input\b[^>]*type=["']?submit\b[^>]*>)()/gi),
  ];
  return (buttons.length > 0 ? buttons : [["", "", ""]]).map(
    ([, tag = "", inner = ""]) => {
      const action = attribute(tag, "formaction") ??
        attribute(opening, "action");
      const url = new URL(action || page, page);
      const name = attribute(tag, "name");
      const value = attribute(tag, "value") ?? "";
      const body = new URLSearchParams(fields);
      if (name) body.append(name, value);
      const label = textOf(inner) || value;
      if (/^post$/i.test(attribute(opening, "method") ?? "")) {
        return { label, url, body };
      }
      for (const [key, text] of body) url.searchParams.append(key, text);
      return { label, url };
    },
  );
}

/** Returns everything that a page offers, its forms first. */
function readPage(html: string, page: URL, user: UserOptions): Choice[] {
  const forms = [...html.matchAll(/<form\b.*?<\/form>/gis)].map(([form]) => {
    // A button may stand outside of its form.
    const id = attribute(/<form\b[^>]*>/i.exec(form)?.[0] ?? "", "id");
    const others = [...html.matchAll(/<button\b[^>]*>.*?<\/button>/gis)]
      .map(([button]) => button)
      .filter((button) => id && attribute(button, "form") === id);
    return form + others.join("");
  });
  const links = [...html.matchAll(/(<a\b[^>]*>)(.*?)<\/a>/gis)]
    .map(([, tag = "", inner = ""]) => ({
      label: textOf(inner),
      href: attribute(tag, "href"),
    }))
    .flatMap(({ label, href }) =>
      href ? [{ label, url: new URL(href, page) }] : []
    );
  return [
    ...forms.flatMap((form) => choicesOf(form, page, user)),
    ...links,
  ];
}

/** Returns what the user clicks; undefined if there is no way on. */
function choose(choices: Choice[], refuses: boolean): Choice | undefined {
  const refusal = choices.find(({ label }) => REFUSES.test(label));
  if (refuses && refusal) return refusal;
  const others = choices.filter(({ label }) => !REFUSES.test(label));
  return others.find(({ body }) => body) ??
    others.find(({ label }) => GOES_ON.test(label));
}

export function createUser(options: UserOptions = {}): User {
  const { refuses = false } = options;
  let { closesFirst = false } = options;
  const cookies = new Map<string, { pair: string; scope: string }>();

  function keepCookies({ origin }: URL, headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = "", name = "", value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? "/";
      const scope = origin + path.replace(/\/?$/, "/");
      const isDeleted = !value || /;\s*max-age=0\b/i.test(line);
      if (isDeleted) cookies.delete(`${scope} ${name}`);
      else cookies.set(`${scope} ${name}`, { pair, scope });
    }
  }

  async function request(
    { url, body }: Omit<Choice, "label">,
  ): Promise<Response> {
    const pairs = [...cookies.values()]
      .filter(({ scope }) => `${url.origin}${url.pathname}/`.startsWith(scope))
      .map(({ pair }) => pair);
    const response = await fetch(url, {
      redirect: "manual",
      headers: {
        Accept: "text/html",
        ...pairs.length > 0 && { Cookie: pairs.join("; ") },
        ...body && { Origin: url.origin },
      },
      ...body && { method: "POST", body },
    });
    keepCookies(url, response.headers);
    return response;
  }

  return {
    async visit(start, home) {
      const isHome = (url: URL) =>
        typeof home === "string" ? url.href.startsWith(home) : home?.(url);
      let next: Omit<Choice, "label"> = { url: new URL(start) };
      let hasRefused = false;
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        const { url } = next;
        const response = await request(next);
        const html = await response.text();
        if (closesFirst) {
          closesFirst = false;
          return { page: "which is closed", isClosed: true };
        }
        const location = response.headers.get("Location") ??
          /url=(.*)/i.exec(response.headers.get("Refresh") ?? "")?.[1];
        if (location !== undefined) {
          const left = new URL(location, url);
          if (isHome(left)) return { left };
          next = { url: left };
          continue;
        }
        const choices = readPage(html, url, options);
        // Some servers send the form for signing in with a 401.
        const isForm = response.ok || /type=["']?password/i.test(html);
        const choice: Choice | undefined = isForm && !hasRefused
          ? choose(choices, refuses)
          : undefined;
        if (!choice) {
          return { page: `${response.status} ${textOf(html).slice(0, 300)}` };
        }
        if (isHome(choice.url)) return { left: choice.url };
        hasRefused = refuses && REFUSES.test(choice.label);
        next = choice;
      }
      return { page: `more than ${MAX_PAGES} pages, the last at ${next.url}` };
    },
  };
}

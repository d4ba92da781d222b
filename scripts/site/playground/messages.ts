/** HTTP messages as text, with their secrets shortened. */

/** The values that nobody may see: in forms, queries, JSON and header fields. */
const SECRET =
  /((?:access_token|refresh_token|code|code_verifier|client_secret|registration_access_token|state|token)(?:=|": ?")|(?:Bearer|DPoP) |dpop: )([\w.~-]{14})[\w.~-]+/gi;

export const redact = (text: string): string => text.replace(SECRET, "$1$2…");

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return redact(String(error));
  const cause = error.cause ? `\nCause: ${messageOf(error.cause)}` : "";
  return redact(`${error.name}: ${error.message}`) + cause;
}

/** Returns a body: JSON over several lines, and a form with a line for each member. */
function bodyOf(body: string, headers: Headers): string {
  const type = headers.get("Content-Type") ?? "";
  if (/json/.test(type)) return JSON.stringify(JSON.parse(body), undefined, 2);
  return /urlencoded/.test(type)
    ? decodeURIComponent(body.replaceAll("&", "\n&"))
    : body;
}

async function textOf(
  line: string,
  message: Request | Response,
): Promise<string> {
  const fields = [...message.headers].map(([name, value]) =>
    `\n${name}: ${value}`
  ).join("");
  const body = await message.clone().text();
  const end = body && `\n\n${bodyOf(body, message.headers)}`;
  return redact(line + fields + end);
}

export const requestText = (request: Request): Promise<string> =>
  textOf(`${request.method} ${request.url}`, request);

export const responseText = (response: Response): Promise<string> =>
  textOf(`HTTP ${response.status} ${response.statusText}`.trim(), response);

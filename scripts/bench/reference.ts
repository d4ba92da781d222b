/**
 * The reference for the speed of the pure functions: the rules of their
 * specification, written down in the straightforward way. Challenges are split
 * character by character, base64 is decoded six bits at a time, and scope lists are
 * sorted. It is not the code of VS Code, whose functions work in the same way.
 */

interface IChallenge {
  scheme: string;
  params: Record<string, string>;
}

/** Splits at commas outside quotes, then reads one piece after the other. */
export function parseWWWAuthenticateHeader(value: string): IChallenge[] {
  const pieces: string[] = [];
  let piece = "";
  let isQuoted = false;
  for (let index = 0; index < value.length; index++) {
    const character = value[index];
    if (character === '"') isQuoted = !isQuoted;
    if (character === "," && !isQuoted) {
      pieces.push(piece.trim());
      piece = "";
    } else piece += character;
  }
  pieces.push(piece.trim());

  const challenges: IChallenge[] = [];
  let current: IChallenge | undefined;
  const start = (scheme: string) => {
    if (current) challenges.push(current);
    current = { scheme, params: {} };
  };
  const addParameter = (text: string) => {
    const equals = text.indexOf("=");
    if (!current || equals < 1) return;
    const name = text.slice(0, equals).trim();
    current.params[name] = text.slice(equals + 1).trim()
      .replace(/^"|"$/g, "");
  };
  for (const text of pieces) {
    if (text === "") continue;
    if (!text.includes("=")) {
      start(text);
      continue;
    }
    const space = text.indexOf(" ");
    const before = text.slice(0, space);
    const after = text.slice(space + 1);
    if (space > 0 && !before.includes("=") && after.includes("=")) {
      start(before);
      addParameter(after);
    } else addParameter(text);
  }
  if (current) challenges.push(current);
  return challenges;
}

function decodeBase64(base64: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor(base64.length / 4 * 3));
  let length = 0;
  let bits = 0;
  let count = 0;
  const append = (sextet: number) => {
    bits = bits << 6 | sextet;
    count += 6;
    if (count < 8) return;
    count -= 8;
    bytes[length++] = bits >>> count;
    bits &= (1 << count) - 1;
  };
  for (let index = 0; index < base64.length; index++) {
    const code = base64.charCodeAt(index);
    if (code >= 65 && code <= 90) append(code - 65);
    else if (code >= 97 && code <= 122) append(code - 97 + 26);
    else if (code >= 48 && code <= 57) append(code - 48 + 52);
    else if (code === 43 || code === 45) append(62);
    else if (code === 47 || code === 95) append(63);
    else if (code === 61) break;
    else throw new SyntaxError("Invalid base64");
  }
  return bytes.subarray(0, length);
}

const utf8 = new TextDecoder();

function decodePart(part: string): Record<string, unknown> {
  const value: unknown = JSON.parse(utf8.decode(decodeBase64(part)));
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("not a JSON object");
  }
  return value as Record<string, unknown>;
}

/** Decodes the header and the payload, and returns the payload. */
export function getClaimsFromJWT(token: string): Record<string, unknown> {
  const parts = token.split(".");
  if (parts.length !== 3) throw new Error("not three parts");
  const [header, payload] = parts as [string, string];
  decodePart(header);
  return decodePart(payload);
}

/** Compares sorted copies. */
export function scopesMatch(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  if (a === b) return true;
  if (!a || !b || a.length !== b.length) return false;
  const left = [...a].sort();
  const right = [...b].sort();
  return left.every((scope, index) => scope === right[index]);
}

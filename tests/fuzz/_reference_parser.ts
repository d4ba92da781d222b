/**
 * The rules of the lenient parser, written down in the straightforward way: a challenge is
 * split character by character.
 */

interface Challenge {
  scheme: string;
  params: Record<string, string>;
}

/** Splits at commas outside quotes, then reads one piece after the other. */
export function parseWWWAuthenticateHeader(value: string): Challenge[] {
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

  const challenges: Challenge[] = [];
  let current: Challenge | undefined;
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

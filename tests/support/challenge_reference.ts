/**
 * A second reading of the six rules of `parseWWWAuthenticateHeader`: slow, in
 * small steps, and written from the rules alone, so that property tests can hold
 * the one pass of lib/core/challenge.ts against it.
 */

/** A challenge whose parameters are listed in the order they were first seen. */
export interface IReferenceChallenge {
  scheme: string;
  params: [key: string, value: string][];
}

/** Whether the character at this place stands after an odd number of quotes. */
function isQuoted(characters: string[], place: number): boolean {
  const before = characters.slice(0, place);
  return before.filter((character) => character === '"').length % 2 === 1;
}

/** Rule 1: pieces between commas outside quotes, trimmed, none empty. */
function splitPieces(value: string): string[] {
  const characters = value.split("");
  const commas = [...characters.keys()].filter((place) =>
    characters[place] === "," && !isQuoted(characters, place)
  );
  const starts = [0, ...commas.map((place) => place + 1)];
  const ends = [...commas, characters.length];
  return starts
    .map((start, index) => characters.slice(start, ends[index]).join("").trim())
    .filter((piece) => piece.length > 0);
}

/** Text before and after the first occurrence of a character, if there is one. */
function cut(text: string, separator: string): [string, string] | undefined {
  const [before = "", ...rest] = text.split(separator);
  return rest.length === 0 ? undefined : [before, rest.join(separator)];
}

/** Rule 5: the parameter that a text holds, or nothing. */
function readParameter(text: string): [key: string, value: string] | undefined {
  const halves = cut(text, "=");
  // An `=` at position 0 has no text before it, not even a blank.
  if (halves === undefined || halves[0].length === 0) return undefined;
  const characters = halves[1].trim().split("");
  if (characters.at(0) === '"') characters.shift();
  if (characters.at(-1) === '"') characters.pop();
  return [halves[0].trim(), characters.join("")];
}

function addParameter(challenge: IReferenceChallenge, text: string): void {
  const parameter = readParameter(text);
  if (parameter === undefined) return;
  const known = challenge.params.find(([key]) => key === parameter[0]);
  if (known) known[1] = parameter[1];
  else challenge.params.push(parameter);
}

/** Rules 2 to 4: what each piece is. Rule 6 follows, as all are kept in a list. */
export function parseByTheRules(value: string): IReferenceChallenge[] {
  const challenges: IReferenceChallenge[] = [];
  for (const piece of splitPieces(value)) {
    if (!piece.includes("=")) {
      challenges.push({ scheme: piece, params: [] });
      continue;
    }
    const halves = cut(piece, " ");
    const starts = halves !== undefined && halves[0].length > 0 &&
      !halves[0].includes("=") && halves[1].includes("=");
    if (starts) {
      const challenge = { scheme: halves[0], params: [] };
      addParameter(challenge, halves[1]);
      challenges.push(challenge);
      continue;
    }
    const current = challenges.at(-1);
    if (current !== undefined) addParameter(current, piece);
  }
  return challenges;
}

/** Secrets of a request, and taking them out of what a server says back. */

const MAX_DEPTH = 20;
const SECRET_PARAMETERS = [
  "actor_token",
  "assertion",
  "client_assertion",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "refresh_token",
  "subject_token",
];
/** Identifier and secret of `Basic` credentials, as they were before encoding. */
function basicPair(credentials: string): string[] {
  try {
    return atob(credentials).split(":")
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
  } catch {
    // Not `Basic`, or not form-encoded.
    return [];
  }
}

/** What a request must keep to itself, in the forms that it may come back in. */
export function secretsOf(
  body: URLSearchParams,
  headers: Readonly<Record<string, string>>,
): string[] {
  const [, authorization = ""] = Object.entries(headers)
    .find(([name]) => name.toLowerCase() === "authorization") ?? [];
  const [, credentials = ""] = authorization.split(" ");
  const [, basicSecret = ""] = basicPair(credentials);
  const parameters = SECRET_PARAMETERS.map((name) => body.get(name) ?? "");
  return [...parameters, credentials, basicSecret]
    // Shorter ones would be found in any text, and keep nothing secret.
    .filter((secret) => secret.length >= 4)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams({ "": secret }).toString().slice(1),
    ])
    // One may begin with another.
    .sort((a, b) => b.length - a.length);
}

/** A value whose texts hold none of these; what is nested too deep is left out. */
export function withoutSecrets(
  value: unknown,
  secrets: readonly string[],
  depth = 0,
): unknown {
  if (depth > MAX_DEPTH) return "[left out]";
  if (typeof value === "string") {
    return secrets.reduce(
      (text, one) => text.replaceAll(one, "[redacted]"),
      value,
    );
  }
  if (Array.isArray(value)) {
    return value.map((member) => withoutSecrets(member, secrets, depth + 1));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map((
      [name, member],
    ) => [name, withoutSecrets(member, secrets, depth + 1)]),
  );
}

import { hinted } from "../core/_hints.ts";
import type { Hint } from "../core/errors.ts";
import { invalidArgument } from "../core/_arguments.ts";
import { decodeBase64Url, encodeBase64Url } from "../core/_base64.ts";
import type { OAuthClientError } from "../core/errors.ts";

/**
 * A key of 32 bytes, or a function that returns it. The function is called when the
 * store first saves a session or reads an encrypted one, and its result is kept. If it
 * fails, its error is thrown, and it is called again the next time.
 */
export type FileStoreKey =
  | Uint8Array
  | (() => Uint8Array | Promise<Uint8Array>);

export interface FileContent {
  readonly isEncrypted: boolean;
  encode(text: string): Promise<string>;
  decode(content: string): Promise<string>;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The first line of an encrypted file, followed by base64url of IV and ciphertext. */
const MARKER = "oauth-helper session A256GCM\n";

const KEY_BYTES = 32;
const IV_BYTES = 12;

const EXPECTED_KEY = "a Uint8Array of 32 bytes, or a function that returns one";

export function isEncrypted(content: string): boolean {
  return content.startsWith(MARKER);
}

export function unusableFile(
  file: string,
  problem: string,
  ...hints: readonly Hint[]
): OAuthClientError {
  const message = `File ${file} ${problem}. It was left as it is; delete it ` +
    "to sign in again";
  return hinted("invalid_session", message, hints);
}

export function withoutKey(file: string): OAuthClientError {
  return unusableFile(
    file,
    "is encrypted, and there is no key",
    { option: "key", text: "set `key` to the key that it was saved with" },
  );
}

function concat(first: Bytes, second: Bytes): Bytes {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

async function importKey(bytes: unknown, file: string): Promise<CryptoKey> {
  if (!isKey(bytes)) throw invalidArgument(`key for ${file}`, EXPECTED_KEY);
  const copy = new Uint8Array(bytes);
  return await crypto.subtle.importKey("raw", copy, "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}

function isKey(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === KEY_BYTES;
}

function plainContent(file: string): FileContent {
  return {
    isEncrypted: false,
    encode: (text) => Promise.resolve(text),
    decode: (content) =>
      isEncrypted(content)
        ? Promise.reject(withoutKey(file))
        : Promise.resolve(content),
  };
}

export function fileContent(
  file: string,
  key: FileStoreKey | undefined,
): FileContent {
  if (key === undefined) return plainContent(file);
  if (!isKey(key) && typeof key !== "function") {
    throw invalidArgument("key", EXPECTED_KEY);
  }
  // A copy, because the caller may overwrite the key.
  const given = typeof key === "function" ? key : new Uint8Array(key);
  let importing: Promise<CryptoKey> | undefined;

  const provideKey = async () =>
    await importKey(typeof given === "function" ? await given() : given, file);

  async function cryptoKey(): Promise<CryptoKey> {
    importing ??= provideKey();
    try {
      return await importing;
    } catch (error) {
      importing = undefined;
      throw error;
    }
  }

  return {
    isEncrypted: true,
    async encode(text) {
      const key = await cryptoKey();
      // A new IV each time: two texts with one IV reveal each other and the
      // authentication key (NIST SP 800-38D, section 8).
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const ciphertext = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv },
        key,
        new TextEncoder().encode(text),
      );
      const sealed = concat(iv, new Uint8Array(ciphertext));
      return `${MARKER}${encodeBase64Url(sealed)}\n`;
    },
    async decode(content) {
      if (!isEncrypted(content) && content.trimStart().startsWith("{")) {
        throw unusableFile(
          file,
          "is not encrypted, and there is a key",
          {
            option: "key",
            text: "save once with `key` what is loaded without `key`",
          },
        );
      }
      if (!isEncrypted(content)) throw unusableFile(file, "is damaged");
      const key = await cryptoKey();
      try {
        const sealed = decodeBase64Url(content.slice(MARKER.length));
        const text = await crypto.subtle.decrypt(
          { name: "AES-GCM", iv: sealed.slice(0, IV_BYTES) },
          key,
          sealed.slice(IV_BYTES),
        );
        return new TextDecoder().decode(text);
      } catch {
        // The function may return another key the next time.
        importing = undefined;
        throw unusableFile(
          file,
          "was encrypted with another key, or is damaged",
          { option: "key", text: "set `key` of fileStore() to that key" },
        );
      }
    },
  };
}

/** Values of cookies that only this server can read and write. */

import { invalidArgument, requireArgument } from "../core/_arguments.ts";
import { decodeBase64Url, encodeBase64Url } from "../core/_base64.ts";
import { isObject } from "../core/_members.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A key as the caller has it: 32 bytes, or their Base64 in either alphabet. */
export type CookieKey = string | Uint8Array;

const KEY_BYTES = 32;
const IV_BYTES = 12;

function bytesOf(key: CookieKey): Bytes {
  let bytes: Bytes | undefined;
  try {
    bytes = typeof key === "string"
      ? decodeBase64Url(key)
      : Uint8Array.from(key);
  } catch {
    // The same error as for another length, without the key.
  }
  if (bytes?.length === KEY_BYTES) return bytes;
  throw invalidArgument(
    "options.cookieKeys",
    "keys of 32 random bytes each, as bytes or in Base64",
  );
}

/** Encrypts and decrypts with AES-256-GCM (NIST SP 800-38D). */
export class Seal {
  /** The newest first. Web Crypto imports one when it is first used. */
  readonly #keys: (Bytes | CryptoKey)[];
  readonly #now: () => number;

  constructor(keys: readonly CookieKey[], now: () => number) {
    requireArgument(
      Array.isArray(keys) && keys.length > 0,
      "options.cookieKeys",
      "a list of keys, the newest first",
    );
    this.#keys = keys.map(bytesOf);
    this.#now = now;
  }

  async #keyAt(index: number): Promise<CryptoKey> {
    const key = this.#keys[index]!;
    if (!(key instanceof Uint8Array)) return key;
    // No promise is kept: in Workers, a request must not await one of another request.
    return this.#keys[index] = await subtleCrypto()
      .importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
  }

  /**
   * Seals an object for a cookie, until a time in seconds. Under another name, the value
   * is not valid.
   */
  async seal(name: string, value: object, exp: number): Promise<string> {
    const text = JSON.stringify({ ...value, exp });
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const sealed = await subtleCrypto().encrypt(
      { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(name) },
      await this.#keyAt(0),
      new TextEncoder().encode(text),
    );
    const bytes = new Uint8Array(IV_BYTES + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), IV_BYTES);
    return encodeBase64Url(bytes);
  }

  /** Returns what was sealed; undefined if it is of no key, expired or changed. */
  async open<T extends object>(
    name: string,
    sealed: string | undefined,
  ): Promise<T & { exp: number } | undefined> {
    if (!sealed || !/^[\w-]+$/.test(sealed)) return undefined;
    for (const index of this.#keys.keys()) {
      try {
        const bytes = decodeBase64Url(sealed);
        const text = await subtleCrypto().decrypt(
          {
            name: "AES-GCM",
            iv: bytes.slice(0, IV_BYTES),
            additionalData: new TextEncoder().encode(name),
          },
          await this.#keyAt(index),
          bytes.slice(IV_BYTES),
        );
        const value: unknown = JSON.parse(new TextDecoder().decode(text));
        // Nothing but `seal` can have written it.
        return isObject(value) && Number(value.exp) * 1000 > this.#now()
          ? value as T & { exp: number }
          : undefined;
      } catch {
        // Of another key, or not one of ours.
      }
    }
    return undefined;
  }
}

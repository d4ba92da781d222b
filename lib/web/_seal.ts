/** Values that only this server can write and read. */

import { invalidArgument, requireArgument } from "../core/_arguments.ts";
import { decodeBase64Url, encodeBase64Url } from "../core/_base64.ts";
import { isObject } from "../core/_members.ts";
import { subtleCrypto } from "../core/_web_crypto.ts";
import type { CookieKey } from "./web_sign_in_options.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The kind of a value. A value sealed as another kind, or under another name, is
 * invalid.
 */
export type SealKind = "visit" | "session" | "state";

const KEY_BYTES = 32;
const IV_BYTES = 12;

/**
 * No cookie is longer (RFC 6265bis, section 5.6), so a longer value is not decrypted.
 */
const MAX_CHARACTERS = 4096;

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
    "keys of 32 random bytes each, as bytes or in Base64 " +
      "(such as openssl rand -base64 32 prints), received " +
      (bytes ? `${bytes.length} bytes` : typeof key),
  );
}

/** Encrypts and decrypts with AES-256-GCM (NIST SP 800-38D). */
export class Seal {
  /** The newest first. Web Crypto imports a key when it is first used. */
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
    // No promise is kept: in Workers, a request must not await another request's
    // promise.
    return this.#keys[index] = await subtleCrypto()
      .importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
  }

  #parameters(kind: SealKind, name: string, iv: Bytes): AesGcmParams {
    // No kind contains a space.
    const additionalData = new TextEncoder().encode(`${kind} ${name}`);
    return { name: "AES-GCM", iv, additionalData };
  }

  /** Seals an object until a time in seconds, as base64url. */
  async seal(
    kind: SealKind,
    name: string,
    value: object,
    exp: number,
  ): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const sealed = await subtleCrypto().encrypt(
      this.#parameters(kind, name, iv),
      await this.#keyAt(0),
      new TextEncoder().encode(JSON.stringify({ ...value, exp })),
    );
    const bytes = new Uint8Array(IV_BYTES + sealed.byteLength);
    bytes.set(iv);
    bytes.set(new Uint8Array(sealed), IV_BYTES);
    return encodeBase64Url(bytes);
  }

  /** Returns undefined if the value has expired, was changed, or matches no key. */
  async open<T extends object>(
    kind: SealKind,
    name: string,
    sealed: string | null | undefined,
  ): Promise<T & { exp: number } | undefined> {
    // `atob` accepts whitespace and padding too.
    const isOurs = sealed && sealed.length <= MAX_CHARACTERS &&
      /^[\w-]+$/.test(sealed);
    if (!isOurs) return undefined;
    for (const index of this.#keys.keys()) {
      try {
        const bytes = decodeBase64Url(sealed);
        const text = await subtleCrypto().decrypt(
          this.#parameters(kind, name, bytes.slice(0, IV_BYTES)),
          await this.#keyAt(index),
          bytes.slice(IV_BYTES),
        );
        const value: unknown = JSON.parse(new TextDecoder().decode(text));
        // Only `seal` can have written it.
        return isObject(value) && Number(value.exp) * 1000 > this.#now()
          ? value as T & { exp: number }
          : undefined;
      } catch {
        // Another key sealed it, or it is foreign.
      }
    }
    return undefined;
  }
}

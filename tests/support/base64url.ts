/** Base64url (RFC 4648, section 5) by the runtime, and not by the library. */
import { Buffer } from "node:buffer";

export const encodeBase64Url = (data: string | Uint8Array): string =>
  Buffer.from(data as string).toString("base64url");

export const decodeBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, "base64url"));

/**
 * `@std/encoding/base64url` for machines where only the npm registry responds: the
 * same code, published as `npm:deno-std` without declarations.
 */
import * as std from "npm:deno-std@1.4.0/encoding/base64url.js";

export const encodeBase64Url: (
  data: ArrayBuffer | Uint8Array<ArrayBuffer> | string,
) => string = std.encodeBase64Url;

export const decodeBase64Url: (b64url: string) => Uint8Array<ArrayBuffer> =
  std.decodeBase64Url;

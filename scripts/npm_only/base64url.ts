/**
 * `@std/encoding/base64url` where only the npm registry answers: the same code
 * as published in `npm:deno-std`, which ships without declarations.
 */
import * as std from "npm:deno-std@1.4.0/encoding/base64url.js";

export const encodeBase64Url: (
  data: ArrayBuffer | Uint8Array<ArrayBuffer> | string,
) => string = std.encodeBase64Url;

export const decodeBase64Url: (b64url: string) => Uint8Array<ArrayBuffer> =
  std.decodeBase64Url;

/** A cookie that no one but this server can read or write: a JWE (RFC 7516). */
import process from "node:process";
import type { IPendingAuthorization } from "@oauth-helper/client";
import { EncryptJWT, jwtDecrypt } from "jose";

/** What a browser keeps for the server. */
export interface IVisit {
  /** The key of its session: another one after each sign-in. */
  id?: string | undefined;
  /** The sign-in that the user has not come back from. */
  pending?: IPendingAuthorization | undefined;
}

/** 32 random bytes in Base64, the same in all processes. */
const { COOKIE_KEY = "" } = process.env;
const key = Uint8Array.from(atob(COOKIE_KEY), (byte) => byte.charCodeAt(0));

/** Returns the header field `Set-Cookie`. */
export async function sealCookie({ id, pending }: IVisit): Promise<string> {
  const jwt = new EncryptJWT({ id, pending }).setExpirationTime("30 days");
  jwt.setProtectedHeader({ alg: "dir", enc: "A256GCM" });
  return `__Host-visit=${await jwt.encrypt(key)}; Path=/; Max-Age=2592000; ` +
    "Secure; HttpOnly; SameSite=Lax";
}

/** Returns what the header field `Cookie` has, if it is valid and of this server. */
export async function openCookie(field?: string | null): Promise<IVisit> {
  const jwt = /(?:^|; )__Host-visit=([^;]+)/.exec(field ?? "")?.[1] ?? "";
  const opened = await jwtDecrypt<IVisit>(jwt, key).catch(() => undefined);
  return opened?.payload ?? {};
}

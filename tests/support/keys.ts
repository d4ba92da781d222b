/** Keys of every algorithm of JWS, for tests of what signs. */

import type { PrivateJwk } from "../../mod.ts";

export type Generation =
  | EcKeyGenParams
  | RsaHashedImportParams
  | { name: "Ed25519" };

export const ec = (namedCurve: string): Generation => ({
  name: "ECDSA",
  namedCurve,
});
export const rsa = (name: string, hash: string): RsaHashedImportParams => ({
  name,
  hash,
});

/** The key of RFC 7515, appendix A.3.1, for tables of whole files. */
export const PRIVATE_JWK: PrivateJwk = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
};

/** An RSA key made for the tests, as generating one takes up to a second. */
const RSA_JWK = {
  kty: "RSA",
  n: "of1IfnnqPBq95mbyx4aH0UbyjHD8DRuTHy-6eKYMXMBuy2axgX-IbEtiyLeJtbttZqwfnk" +
    "cjLuFMxTP9a0eRvKwezgVdrW1Wbxuy1VfUAK94mgGF1uod0KQ2rrJND8XvvYcOpZRzTrj5" +
    "b7-ZqBXfbYW3FyCjRLkKk5xFvbKJ3ydD0AT64vIcK-y0Oy0vdKP1mvGv9pKHzDOAAtKdau" +
    "jV6lswAQCIhVnSx-th56Ud9UO8xIByKc_JznbPnUEEfaSMtCqLl5iZ0JvfSHN-2wRtWEJf" +
    "vzuNKniNkjwRKEPG1eq1vv6RDmY8s9UrztkRKnUhgOawCZy32nd3VEfwq1KoDQ",
  e: "AQAB",
  d: "SZ7MSLbtzr00mzcklau9pE5DQ7LBys9CcQUHEXgd3DWU5RpaCAnHHbixP5mym4aANQ57HD" +
    "smcVLxyhpTzWLsiDwNkAJ-TaiIhNyozS8qadlVzWBtzHwAaueG9qSQQ1_pElEERhqOwTNu" +
    "IeyJUAwIzETeLkOmEECs3uNCCvHOmT0M48L1oKpBm-Q8hanhhSPO8sYsMne7DnO3CJIVq_" +
    "8ivRV2iNC15zZdYMsNdfEBtdeJ2kQcQVs6Cryk2GtbGpJJIdvuTCpXGixcVR3lkHPdAPF6" +
    "HUgGjkR9qJGOYCDAuhsIrMca5Avv7QRsxRURNdqWUeh22Uto8gkNqAFS2hsxfQ",
  p: "w6dS4eLufBHWE0qukWGOhbwd3Q1_VyazJHiFKekGzZ45i4av6HBAWL4BH2nPzJSZ6wGlb-" +
    "5IB47DT-BFaNJ7LU9GmmQG3dA28mI5l91FnHlA8TpV7_ztaeL3wQ1trPfJh8M1XbaTIFqW" +
    "lrofXEHc0ukf3-P2-tEqtfhj_Hm0LA8",
  q: "0_Pa-MfoTvBPTNJbeKKFjp46Fis7Exh15ueS3tB6BNK57kV_Or2Bm5m_XmzUF4ApYR4gGV" +
    "CD1gjgdnAd3OwD_u6UpN55VvSDFtjZuk_OXDa627YRPBHidurcvGLwJ02Da-uT6jLrZENF" +
    "1pq2k1rJ945tW-_kerbJ2296fJmrPiM",
  dp: "l1OWbnH35OxiuF8d8AIVmuhp7Kxg3oZnLoEs9cJvaZ_EgF83NT-E9V5YPfS4LVKOTc7jJ1" +
    "SUT4wjEmezJ6UMcnoLcKSHDw7ZQNWqGASjr6e1DB8Dku_8rNZIq_934b1xGVlpsEbjOrX2" +
    "HTRtxwyGAHchGSkXwN0A_OfWZdO4AA8",
  dq: "mDgK7B7N9Vta6GYu8U1vM8TpHKDBlW48xq9LaKA68ZnRlJDu1eXh3jkmGg94psQRc8Ep9m" +
    "Q_uoi3g_fzSoVqPT1lHZ71cAC84LyuacMFBm779e0lJYoGpbb4_objyKY_m1Md8NXO_jve" +
    "PUjxlJRgdl0gpyV7ZrI9-E1wn2nRdRc",
  qi: "gxfJPjWfJqCf3oNIfwzgot-VRC7T3D3W3tSfYRBy9yS6CS-Vr-YG-jULucwUAyzMJmP5OG" +
    "XIZ4Qo4n-EauClGIfiGkVvtO8c8N2J2cPFTUnh73uKuEKm2b1gdWOA6YNCVaZ5-l3m6oL8" +
    "iL2v0MJo7lUk9Cqcs9bdULr_z8hO79A",
};

export async function rsaPair(
  algorithm: RsaHashedImportParams,
  extractable = false,
  [privateUsage, publicUsage]: [KeyUsage, KeyUsage] = ["sign", "verify"],
): Promise<CryptoKeyPair> {
  const { kty, n, e } = RSA_JWK;
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey("jwk", RSA_JWK, algorithm, extractable, [
      privateUsage,
    ]),
    crypto.subtle.importKey("jwk", { kty, n, e }, algorithm, true, [
      publicUsage,
    ]),
  ]);
  return { privateKey, publicKey };
}

/** Returns a pair of signing keys; a new one, but always the same for RSA. */
export async function pairOf(
  generation: Generation,
  extractable = false,
): Promise<CryptoKeyPair> {
  if ("hash" in generation) return await rsaPair(generation, extractable);
  return await crypto.subtle.generateKey(
    generation,
    extractable,
    ["sign", "verify"],
  ) as CryptoKeyPair;
}

/** Options that a diagnosis may choose for a sign-in. */

import { isSameIssuer } from "../core/_issuer.ts";
import { parseUrl } from "../core/_url.ts";
import type { Facts } from "./_facts.ts";
import type { DiagnoseOptions, DiagnosisOption } from "./diagnosis.ts";

/** Returns the caller's options that a diagnosis could propose. */
export function givenOptions(
  {
    allowHttp,
    assumePkce,
    serverMetadata,
    trustedIssuers,
    client,
    signIn,
  }: DiagnoseOptions,
): DiagnosisOption[] {
  const set: [DiagnosisOption, isSet: unknown][] = [
    [{ name: "allowHttp", value: true }, allowHttp],
    [{ name: "assumePkce", value: true }, assumePkce],
    [
      { name: "trustedIssuers", value: { ...trustedIssuers } },
      Object.keys(trustedIssuers ?? {}).length,
    ],
    [{ name: "serverMetadata" }, serverMetadata],
    [{ name: "client" }, client ?? signIn?.client],
    [{ name: "clientMetadataUrl" }, signIn?.clientMetadataUrl],
  ];
  return set.flatMap(([option, isSet]) => isSet ? [option] : []);
}

/** Checks whether the caller has set every identifier that was trusted. */
function areGiven(
  { options: { trustedIssuers: given = {} } }: Facts,
  { options: { trustedIssuers: used = {} } }: Facts,
): boolean {
  return Object.entries(used).every(([named, claimed]) =>
    Object.hasOwn(given, named) && given[named] === claimed
  );
}

/** Checks whether all endpoints are on the origin of the claimed issuer. */
function areOfIssuer({ context }: Facts): boolean {
  const { issuer, serverMetadata } = context ?? {};
  const origin = issuer === undefined ? undefined : parseUrl(issuer)?.origin;
  return Object.entries(serverMetadata ?? {})
    .filter(([name]) => name.endsWith("_endpoint"))
    .every(([, url]) => parseUrl(String(url))?.origin === origin);
}

/**
 * Checks whether a sign-in may use the options that a diagnosis added. Any server's
 * metadata can cause such an option, so it must not select who receives a secret, code
 * or token. Only the caller allows http and loopback. A claimed issuer counts only if
 * nothing is sent to another origin.
 */
export function mayBeChosen(given: Facts, facts: Facts): boolean {
  const { allowHttp, signIn } = given.options;
  if (facts.options.allowHttp && !allowHttp) return false;
  if (areGiven(given, facts)) return true;
  const { issuer } = signIn?.client ?? {};
  const belongs = issuer === undefined ||
    isSameIssuer(issuer, facts.context?.issuer ?? "");
  return belongs && areOfIssuer(facts);
}

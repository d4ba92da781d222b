import { createDpop, privateKeyJwt } from "../../../../mod.ts";
import type { Server, Step } from "../../server.ts";

const packages = { "oidc-provider": "9.13.3" };

export default [
  {
    name: "oidc-provider",
    packages,
    command: ["node", "plain.mjs"],
    isLight: true,
    plays: ["refuse", "deleted"],
  },
  ...["8.8.1", "7.14.3"].map((version) => ({
    name: `oidc-provider ${version.slice(0, 1)}`,
    packages: { "oidc-provider": version },
    command: ["node", "plain.mjs"],
    plays: ["refuse"] satisfies Step[],
  })),
  {
    name: "oidc-provider, resource indicators",
    packages,
    command: ["node", "resource_indicators.mjs"],
    isLight: true,
    stepUpPath: "/admin",
    otherPath: "/files",
    plays: [
      "apis",
      "refuse",
      "step_up",
      "device",
      "ciba",
      "credentials",
      "deleted",
    ],
  },
  {
    name: "oidc-provider, PAR with DPoP and nonces",
    packages,
    command: ["node", "par_dpop.mjs"],
    isLight: true,
    options: async () => ({ fetch: { dpop: await createDpop() } }),
    plays: ["refuse", "par", "dpop", "deleted"],
  },
  {
    name: "oidc-provider, FAPI 2.0",
    packages,
    command: ["node", "fapi.mjs"],
    isLight: true,
    options: async ({ resource, key }) => ({
      fetch: {
        client: privateKeyJwt("fapi", key, {
          issuer: new URL(resource).origin,
        }),
        dpop: await createDpop(),
      },
    }),
    plays: ["refuse", "par", "dpop", "private_key_jwt"],
  },
] satisfies Server[];

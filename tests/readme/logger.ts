import type { OnEvent } from "@oauth-helper/client";

/** Prints each event in one line, such as `oauth refreshed issuer=https://...`. */
export const log: OnEvent = ({ type, ...members }) => {
  const words = Object.entries(members).map(([name, value]) =>
    `${name}=${value}`
  );
  console.error(["oauth", type, ...words].join(" "));
};

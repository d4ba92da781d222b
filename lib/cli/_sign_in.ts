/** How the user signs in: with the browser, or on another device. */

import type {
  LoopbackReceiver,
  LoopbackReceiverOptions,
} from "../native/loopback_receiver_options.ts";
import type { Client } from "../client/known_client.ts";
import { withoutHints } from "../core/_hints.ts";
import type { Flow } from "../flows/flow.ts";
import type { InitialAccessToken } from "../flows/initial_access_token.ts";
import type { Arguments } from "./_arguments.ts";
import { ExitCode, Failure } from "./_failure.ts";
import type { Host } from "./_host.ts";

/** The client's name, which a server's pages show. */
export const CLIENT_NAME = "oauth-helper";

function commonOf(given: Arguments) {
  const { scopes, parameters, indicator, clientMetadataUrl } = given;
  return {
    clientMetadata: { client_name: CLIENT_NAME },
    clientMetadataUrl: clientMetadataUrl?.href,
    scopes,
    parameters,
    resourceIndicator: indicator,
  };
}

function receiverOptionsOf(
  { redirectUri, paste }: Arguments,
  print: Host["printError"],
): LoopbackReceiverOptions {
  const { hostname, port, pathname } = redirectUri ?? {};
  return {
    title: CLIENT_NAME,
    paste,
    // If the user pastes the response, the browser is on another machine.
    open: paste ? false : undefined,
    print,
    ...(redirectUri && {
      host: hostname === "localhost" ? "localhost" : "127.0.0.1",
      port: Number(port || 80),
      path: pathname,
    }),
  };
}

/** Returns a receiver whose errors name the option of the command. */
export async function receiverOf(
  given: Arguments,
  print: Host["printError"],
): Promise<LoopbackReceiver> {
  const { createLoopbackReceiver } = await import(
    "../native/loopback_receiver.ts"
  );
  const receiver = createLoopbackReceiver(receiverOptionsOf(given, print));
  return {
    ...receiver,
    async redirectUri(request) {
      try {
        return await receiver.redirectUri(request);
      } catch (error) {
        throw new Failure(
          ExitCode.Failed,
          withoutHints(error as Error),
          "Pass a URI with a free port that the client is registered with: " +
            "--redirect-uri http://127.0.0.1:PORT/callback",
        );
      }
    },
  };
}

export async function ownFlowOf(
  given: Arguments,
  client: Client,
): Promise<Flow> {
  const { scopes, parameters, indicator: resource } = given;
  const { clientCredentialsFlow } = await import(
    "../flows/client_credentials_flow.ts"
  );
  return clientCredentialsFlow({
    client,
    scopes,
    parameters,
    resourceIndicator: resource,
  });
}

export async function flowOf(
  given: Arguments,
  host: Host,
  initialAccessToken: InitialAccessToken | undefined,
): Promise<Flow> {
  const common = { ...commonOf(given), initialAccessToken };
  if (given.device) {
    const { deviceFlow } = await import("../flows/device_flow.ts");
    return deviceFlow({
      ...common,
      // The library has checked that these may be shown to a user.
      show(
        { verification_uri, verification_uri_complete: complete, user_code },
      ) {
        host.printError(
          `Open ${verification_uri} on any device, and enter ${user_code}`,
        );
        if (complete) host.printError(`Or open ${complete}`);
      },
    });
  }
  const { codeFlow } = await import("../flows/code_flow.ts");
  return codeFlow({
    ...common,
    ...await receiverOf(given, host.printError),
    assumePkce: given.assumePkce,
    requireIss: given.requireIss,
  });
}

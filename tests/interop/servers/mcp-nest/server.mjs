/** NestJS with the MCP module and the authorization server of @rekog/mcp-nest. */
import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import {
  GitHubOAuthProvider,
  McpAuthJwtGuard,
  McpAuthModule,
  McpModule,
} from "@rekog/mcp-nest";
import cookieParser from "cookie-parser";
import { createServer } from "node:http";

const { PORT, UPSTREAM_PORT } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const upstream = `http://127.0.0.1:${UPSTREAM_PORT}`;

/** In the place of GitHub, where the user has signed in. */
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, upstream);
  if (pathname === "/authorize") {
    const url = new URL(searchParams.get("redirect_uri"));
    url.searchParams.set("code", crypto.randomUUID());
    return response.writeHead(302, { Location: url.href }).end();
  }
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(
    pathname === "/token"
      ? { access_token: crypto.randomUUID(), token_type: "bearer" }
      : { id: 1, login: "alice", name: "Alice", emails: [] },
  ));
}).listen(UPSTREAM_PORT, "127.0.0.1");

class AppModule {}
Module({
  imports: [
    McpAuthModule.forRoot({
      provider: {
        ...GitHubOAuthProvider,
        strategyOptions: (options) => ({
          ...GitHubOAuthProvider.strategyOptions(options),
          authorizationURL: `${upstream}/authorize`,
          tokenURL: `${upstream}/token`,
          userProfileURL: `${upstream}/user`,
        }),
      },
      clientId: "id",
      clientSecret: "s3cret",
      // The secret of the operator survives a restart, the clients do not.
      jwtSecret: "at least 32 characters of a secret",
      serverUrl: origin,
      resource: `${origin}/mcp`,
      apiPrefix: "auth",
    }),
    McpModule.forRoot({
      name: "interop",
      version: "1.0.0",
      guards: [McpAuthJwtGuard],
    }),
  ],
  providers: [McpAuthJwtGuard],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: ["error"] });
app.use(cookieParser());
app.use("/operator/clients", ({ query }, response) => {
  app.get("IOAuthStore", { strict: false }).clients.delete(query.id);
  response.end();
});
await app.listen(PORT, "127.0.0.1");
console.log(`\n${origin}/mcp`);

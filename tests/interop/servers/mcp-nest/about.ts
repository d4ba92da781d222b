import type { Server } from "../../server.ts";

export default [{
  name: "@rekog/mcp-nest",
  // The last version that has the authorization server built in.
  packages: {
    "@rekog/mcp-nest": "1.9.11",
    "@modelcontextprotocol/sdk": "1.32.2",
    "@nestjs/common": "11.2.10",
    "@nestjs/core": "11.2.10",
    "@nestjs/jwt": "11.0.2",
    "@nestjs/passport": "11.0.5",
    "@nestjs/platform-express": "11.2.10",
    "cookie-parser": "1.4.7",
    "express": "5.3.0",
    "passport-github": "1.1.0",
    "reflect-metadata": "0.2.2",
    "rxjs": "7.8.2",
    "zod": "4.6.7",
  },
  command: ["node", "server.mjs"],
  plays: ["deleted"],
}] satisfies Server[];

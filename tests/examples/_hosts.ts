/**
 * Runs before a program, by `--preload`: what it requests of the hosts in the table HOSTS
 * goes to servers on loopback.
 */

import { mapHosts } from "../servers/apis/_map_hosts.ts";

globalThis.fetch = mapHosts(JSON.parse(Deno.env.get("HOSTS") ?? "{}"));

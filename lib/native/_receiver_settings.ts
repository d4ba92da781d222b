import { isIP } from "node:net";
import {
  requireArgument,
  requireNames,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { parseUrl } from "../core/_url.ts";
import { openBrowser } from "./_browser.ts";
import type { LoopbackReceiverOptions } from "./loopback_receiver_options.ts";

const DEFAULT_TIMEOUT_MS = 300_000;

export function settingsOf(options?: LoopbackReceiverOptions) {
  const {
    port,
    host,
    bind,
    path = "/callback",
    open = openBrowser,
    paste = false,
    print = (message: string) => console.error(message),
    title = "Sign-in",
    page,
    timeoutMs = DEFAULT_TIMEOUT_MS,
  } = requireObject("options", options ?? {});
  requireArgument(
    port === undefined ||
      (Number.isInteger(port) && port >= 0 && port < 65_536),
    "port",
    "an integer from 0 to 65535",
  );
  requireArgument(
    host === undefined || host === "127.0.0.1" || host === "localhost",
    "host",
    '"127.0.0.1" or "localhost"',
  );
  requireArgument(
    bind === undefined || isIP(bind) !== 0,
    "bind",
    "an IP address",
  );
  requireArgument(
    parseUrl(path, "http://127.0.0.1")?.pathname === path,
    "path",
    "an absolute path in canonical form, without query and fragment",
  );
  requireArgument(
    open === false || typeof open === "function",
    "open",
    "a function or false",
  );
  requireArgument(typeof print === "function", "print", "a function");
  requireNonEmptyString("title", title);
  requireArgument(
    page === undefined || typeof page === "function",
    "page",
    "a function",
  );
  requireArgument(timeoutMs > 0, "timeoutMs", "a positive number");
  const settings = {
    port,
    host,
    bind,
    path,
    open,
    paste,
    print,
    title,
    page,
    timeoutMs,
  };
  requireNames(options ?? {}, Object.keys(settings), "createLoopbackReceiver");
  return settings;
}

/** A site of two authorization servers, in Chromium: each sign-in and sign-out is its own. */

import { memoryStore, type SessionStore } from "@oauth-helper/client";
import { consent } from "../browser/_user.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { serve } from "../servers/_serve.ts";
import { findChromium, startBrowser } from "../support/chromium.ts";
import { createSite, type Service } from "./two_servers.ts";

const SECRET = "secret of the site";

Deno.test({
  name: "two_servers.ts signs in to two servers and out of one, in Chromium",
  ignore: findChromium() === undefined,
  async fn() {
    await using stack = new AsyncDisposableStack();
    const own: { handle?: (request: Request) => Promise<Response> } = {};
    const { origin, close } = serve((request) => own.handle!(request));
    stack.defer(close);
    const services: Service[] = [];
    const issuers = new Map<string, string>();
    for (const name of ["notes", "mails"]) {
      const client = {
        client_id: name,
        client_secret: SECRET,
        redirect_uris: [`${origin}/${name}/callback`],
        post_logout_redirect_uris: [`${origin}/`],
        grant_types: ["authorization_code", "refresh_token"],
      };
      const { server: { issuer }, protectedResource: { resource } } = stack.use(
        await startFlowServers({ clients: [client] }),
      );
      issuers.set(name, issuer);
      const known = { issuer, client_id: name, client_secret: SECRET };
      services.push({ name, resource, client: known });
    }
    const stores = new Map<string, SessionStore>();
    own.handle = createSite(services, {
      origin,
      cookieKey: btoa("a key of thirty-two bytes, or so"),
      storeOf(key) {
        const store = stores.get(key) ?? memoryStore();
        stores.set(key, store);
        return store;
      },
    });
    const browser = stack.use(await startBrowser());
    const page = await browser.attach(await browser.open(`${origin}/`));
    const click = async (selector: string) => {
      const one = `document.querySelector(${JSON.stringify(selector)})`;
      await page.find(`document.readyState === "complete" && ${one}`);
      await page.run(`${one}.click()`);
    };
    for (const { name, resource } of services) {
      await click(`a[href^='/${name}/login']`);
      await page.find(`location.origin === "${issuers.get(name)}"`);
      await consent(page, issuers.get(name)!);
      await page.find(
        `location.href === "${origin}/${name}" &&
          document.body.innerText.includes(${JSON.stringify(resource)})`,
      );
      await page.send("Page.navigate", { url: `${origin}/` });
    }
    await page.find("document.forms.length === 2");
    await click("form[action='/notes/logout'] button");
    // The server of the notes shows no page: cookies do not tell ports apart, and the
    // server of the mails has replaced its session.
    await page.find(
      `location.href === "${origin}/" && document.forms.length === 1 &&
        document.querySelector("form[action='/mails/logout']")`,
    );
  },
});

import { H3 } from "h3";
import { signIn } from "./sign_in.ts";

export const app = new H3();
app.use(async ({ req }, next) =>
  await signIn.handle(req) ??
    await signIn.forward(req, { path: "/api" }) ??
    await next()
);
app.post("/notes", ({ req }) => req.json());

import { H3 } from "h3";
import { answer } from "./sign_in.ts";

export const app = new H3();
app.use(async ({ req }, next) => await answer(req) ?? await next());
app.post("/notes", ({ req }) => req.json());

/**
 * A token is sent to no path that a server may decode to one outside of the resource.
 */

import { assertEquals } from "@std/assert";
import { reaches } from "../../../lib/fetch/policy/_covered_urls.ts";

const ORIGIN = "https://api.example";

Deno.test("reaches() refuses paths that may lead out of the resource where they are decoded again", () => {
  const rows = [
    "/a/..%2fb",
    "/a/..%2Fb",
    "/a/..%5cb",
    "/a/..%252fb",
    "/a/..%25252fb",
    "/a/.%252e/b",
    "/a/%252E%252e/b",
    "/a/..;/b",
    "/a/..;x=1/b",
    "/a/%2e%2e;/b",
    "/a/..%3b/b",
    "/a/.;/b",
    "/a/%ff/..%2fb",
    "/a/%zz/..%2fb",
    "/a/x%2f..",
  ];
  for (const path of rows) {
    assertEquals(reaches(`${ORIGIN}/a`, ORIGIN + path), false, path);
    assertEquals(reaches(ORIGIN, ORIGIN + path), true, path);
  }
});

Deno.test("reaches() accepts dots and encoded characters within the segments of a path", () => {
  const rows = [
    "/a",
    "/a/",
    "/a/b;v=..",
    "/a/...",
    "/a/..b",
    "/a/b..;x",
    "/a/b%2fc",
    "/a/%2e%2eb",
    "/a/100%25",
    "/a/%E2%82%AC",
    "/a//b",
  ];
  for (const path of rows) {
    assertEquals(reaches(`${ORIGIN}/a`, ORIGIN + path), true, path);
    assertEquals(reaches(`${ORIGIN}/a/`, ORIGIN + path), true, path);
  }
});

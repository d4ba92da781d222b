/** The software bill of materials of a release, which npm makes. */

import { assertEquals } from "@std/assert";
import { sbomOf } from "../../scripts/release.ts";
import { npmPack } from "../../scripts/support/package.ts";
import { temporaryDirectory } from "../../scripts/support/process.ts";

Deno.test("sbomOf() lists the package, and nothing that only its tests need", async () => {
  await using folder = await temporaryDirectory("sbom_test_");
  const members = {
    name: "@oauth-helper/client",
    version: "1.2.3",
    devDependencies: { jose: "6.2.18" },
  };
  const file = `${folder.path}/package.json`;
  await Deno.writeTextFile(file, JSON.stringify(members));
  const tarball = await npmPack(folder.path, folder.path);
  const { bomFormat, metadata, components } = JSON.parse(
    await sbomOf(tarball),
  );
  assertEquals([bomFormat, components], ["CycloneDX", []]);
  assertEquals(
    metadata.component.purl,
    "pkg:npm/%40oauth-helper/client@1.2.3",
  );
});

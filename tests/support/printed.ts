/** What programs print. */

import { LIMIT_MS, within } from "./within.ts";

/** Waits until a stream has text that matches, and reads it to its end meanwhile. */
export async function printed(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  pattern: RegExp,
): Promise<{ match: RegExpExecArray; ended: Promise<void> }> {
  const found = Promise.withResolvers<RegExpExecArray>();
  const ended = (async () => {
    let text = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const match = pattern.exec(text);
      if (match) found.resolve(match);
    }
    found.reject(new Error(text));
  })();
  return { match: await within(LIMIT_MS, found.promise), ended };
}

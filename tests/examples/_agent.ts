/** An agent with the SDKs of two makers, which know nothing but their environment. */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const openai = new OpenAI();
const anthropic = new Anthropic();
const messages = [{ role: "user" as const, content: "Hello?" }];
const model = "test";

const whole = await openai.chat.completions.create({ model, messages });
console.log(whole.choices[0]?.message.content);
const chunks = await openai.chat.completions
  .create({ model, messages, stream: true });
for await (const { choices } of chunks) console.log(choices[0]?.delta.content);

const message = { model, messages, max_tokens: 10 };
const { content } = await anthropic.messages.create(message);
console.log(content[0]?.type === "text" && content[0].text);
for await (const event of anthropic.messages.stream(message)) {
  if (event.type !== "content_block_delta") continue;
  console.log(event.delta.type === "text_delta" && event.delta.text);
}

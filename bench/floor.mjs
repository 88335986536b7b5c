/**
 * What the figures are ratios to: the loop that anybody would write first on the official SDK, with
 * its defaults. It sends the same prompts, runs the same tool, keeps nothing and decides nothing.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import Anthropic from '@anthropic-ai/sdk';

const [headFile, prompt] = process.argv.slice(2);
const head = JSON.parse(readFileSync(headFile, 'utf8'));
const client = new Anthropic();

/** Raw events: cheaper than `messages.stream`, which keeps a snapshot up to date. */
const turn = async (messages) => {
  const content = [];
  let json = '';
  let stopReason = null;
  /** @type {AsyncIterable<Anthropic.RawMessageStreamEvent>} */
  const events = await client.messages.create({ ...head, messages, stream: true });
  for await (const event of events) {
    if (event.type === 'content_block_start') {
      content.push(event.content_block);
      json = '';
    } else if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta') content.at(-1).text += event.delta.text;
      else if (event.delta.type === 'input_json_delta') json += event.delta.partial_json;
    } else if (event.type === 'content_block_stop') {
      if (json !== '') content.at(-1).input = JSON.parse(json);
    } else if (event.type === 'message_delta') stopReason = event.delta.stop_reason;
  }
  return { content, stopReason };
};

const read = async ({ file_path }) => {
  const lines = (await readFile(file_path, 'utf8')).replace(/\n$/, '').split('\n');
  return lines.map((line, index) => `${String(index + 1).padStart(6)}\t${line}`).join('\n');
};

/** On the newest user message and the one before it. */
const marked = [];
const mark = (block) => {
  block.cache_control = { type: 'ephemeral' };
  marked.push(block);
  if (marked.length > 2) delete marked.shift().cache_control;
};

const messages = [{ role: 'user', content: [{ type: 'text', text: prompt }] }];
for (;;) {
  mark(messages.at(-1).content.at(-1));
  const { content, stopReason } = await turn(messages);
  messages.push({ role: 'assistant', content });
  if (stopReason !== 'tool_use') break;
  const calls = content.filter(({ type }) => type === 'tool_use');
  const results = calls.map(async ({ id, input }) => {
    return { type: 'tool_result', tool_use_id: id, content: await read(input) };
  });
  messages.push({ role: 'user', content: await Promise.all(results) });
}

/**
 * Floor of the benchmark: a simple loop on the official SDK with its defaults. It sends the same prompts
 * and runs the same tool, without a journal and without permissions.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import Anthropic from '@anthropic-ai/sdk';

const [headFile, prompt, childFile] = process.argv.slice(2);
const head = JSON.parse(readFileSync(headFile, 'utf8'));
/** Templates of the first message of a child and of its report, as Skein writes them. */
const child = childFile === undefined ? undefined : JSON.parse(readFileSync(childFile, 'utf8'));
const client = new Anthropic();

/** Uses raw events, which are cheaper than `messages.stream` with its snapshot. */
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

const textBlock = (text) => ({ type: 'text', text });

/** Sets breakpoints on the two newest user messages. Resolves with the last text. */
const converse = async (opening) => {
  const marked = [];
  const messages = [{ role: 'user', content: opening }];
  for (;;) {
    const newest = messages.at(-1).content.at(-1);
    newest.cache_control = { type: 'ephemeral' };
    marked.push(newest);
    if (marked.length > 2) delete marked.shift().cache_control;
    const { content, stopReason } = await turn(messages);
    messages.push({ role: 'assistant', content });
    if (stopReason !== 'tool_use') return content.at(-1).text;
    const calls = content.filter(({ type }) => type === 'tool_use');
    const results = calls.map(async ({ id, name, input }) => {
      const result = await (name === 'Task' ? runChild(input) : read(input));
      return { type: 'tool_result', tool_use_id: id, content: result };
    });
    messages.push({ role: 'user', content: await Promise.all(results) });
  }
};

const runChild = async (input) => {
  const text = await converse(
    child.opening.map((text) => textBlock(text.replace('{{prompt}}', () => input.prompt))),
  );
  return child.report.replace('{{text}}', () => text);
};

await converse([textBlock(prompt)]);

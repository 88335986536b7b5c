/** Several prompts in one session, an interrupt, and the same session taken up again later. */
import assert from 'node:assert/strict';
import { openSession, query } from 'skein';

const session = await openSession({ title: 'Bird watching', permissionMode: 'plan' });

const ask = async (prompt: string, signal?: AbortSignal): Promise<string> => {
  for await (const message of session.query(prompt, signal && { signal })) {
    if (message.type === 'result') return `${message.stop_reason}: ${message.result}`;
  }
  throw new Error('A run ends with its result.');
};

console.log(await ask('My favourite bird is the goose. Say yes.'));
const cut = await ask('Say it a thousand times.', AbortSignal.timeout(1_000));
console.log(cut.slice(0, 60));
console.log(await ask('Which bird is my favourite?'));
await session.close();

// Any program can go on with it: the conversation is on disk, and so is its prompt cache.
let remembered = '';
for await (const message of query({
  prompt: 'And once more, in capitals?',
  options: { resume: session.id },
})) {
  if (message.type === 'result') remembered = message.result;
}
console.log(remembered);
assert.match(remembered, /GOOSE/);

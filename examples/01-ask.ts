/** Asks one question about the current directory and prints the answer as it comes. */
import assert from 'node:assert/strict';
import { query } from 'skein';

for await (const message of query({
  prompt: 'What does this project do? One sentence.',
  options: { includePartialMessages: true, maxTurns: 20 },
})) {
  if (message.type === 'stream_event') {
    const { delta } = message.event as { delta?: { text?: string } };
    process.stdout.write(delta?.text ?? '');
  }
  if (message.type === 'tool_call') console.log(`\n▸ ${message.description}`);
  if (message.type === 'result') {
    console.log(`\n${message.num_turns} turns, $${message.total_cost_usd ?? '?'}`);
    assert.equal(message.subtype, 'success', message.result);
  }
}

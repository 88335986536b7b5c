/** Gives the agent a tool of this program, and decides each call that no rule decides. */
import assert from 'node:assert/strict';
import { query, tool, z } from 'skein';

const sightings = new Map([['goose', 12]]);

const countBirds = tool({
  name: 'CountBirds',
  description: 'Says how many birds of a kind were seen today. Knows geese, swans and cranes.',
  input: z.object({ kind: z.enum(['goose', 'swan', 'crane']) }),
  readOnly: true,
  subject: ({ kind }) => kind,
  run: ({ kind }) => `${sightings.get(kind) ?? 0} of the kind ${kind} were seen.`,
});

const asked: string[] = [];
let answer = '';

for await (const message of query({
  prompt: 'How many geese were seen today, and how many swans?',
  options: {
    tools: [countBirds],
    allowedTools: ['CountBirds(goose)'],
    canUseTool: ({ tool: name, description, reason }) => {
      asked.push(description);
      console.log(`? ${description}: ${reason}`);
      return name === 'CountBirds'
        ? { behavior: 'allow', scope: 'session' }
        : { behavior: 'deny', reason: 'This program only counts birds.' };
    },
  },
})) {
  if (message.type === 'tool_call') console.log(`▸ ${message.name}`, message.input);
  if (message.type === 'result') answer = message.result;
}

console.log(answer);
assert.match(answer, /12/);
assert.ok(asked.length <= 1, 'a rule allows the geese, and one answer holds for all swans');

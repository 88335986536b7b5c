/** Task, with scripted agents. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { AgentRefusal } from '../../../src/protocol/agent/agents.js';
import { refuses, reports, starts, works } from '../../fakes/agents/scripted-agents.js';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const order = { description: 'Find the parser', prompt: 'Where is it?' };
const explorer = { ...order, subagent_type: 'explorer' };
const withAgents = (does: Bench['agents']['does']) => (bench: Bench) => {
  bench.agents.does = does;
};
const expectNoneStarted = ({ agents }: Bench) => expect(agents.orders).toEqual([]);

export const task: Entry = {
  tool: 'Task',
  sample: explorer,
  endlessFirst: withAgents(works),
  endless: explorer,
  draws: () => ({
    subagent_type: fc.oneof(fc.constantFrom('explorer', 'tester'), fc.string({ unit: 'binary' })),
  }),
  cases: {
    'the report of an agent': { input: explorer, end: 'ok', says: /explorer ag_1 .* completed/ },
    'the report of a fork': { input: order, end: 'ok', says: /^Agent fork ag_1/ },
    'a report of megabytes, by showing both ends': {
      first: withAgents(reports({ text: `FIRST${'x'.repeat(5_000_000)}LAST` })),
      input: order,
      end: 'ok',
      says: /FIRSTx[\s\S]*xLAST\n/,
      after: (_, { text }) => expect(text.length).toBeLessThan(31_000),
    },
    'a failed agent': {
      first: withAgents(reports({}, { reason: 'max_turns', detail: null })),
      input: order,
      end: 'failed',
      says: /"reason":"max_turns"/,
    },
    'a background agent': {
      first: withAgents(starts()),
      input: { ...order, run_in_background: true },
      end: 'ok',
      says: /Started in the background: .* take the id ag_1/,
    },
    'too many agents': {
      first: withAgents(refuses(new AgentRefusal('There are too many agents.'))),
      input: order,
      end: 'failed',
      says: /^There are too many agents\.$/,
    },
    'a cost preview': {
      input: { ...explorer, preview: 30 },
      end: 'ok',
      says: /with the cache, .* without it/,
      after: expectNoneStarted,
    },
    'a teammate': {
      first: withAgents(starts()),
      input: { ...explorer, name: 'ada', team_name: 'geese' },
      end: 'ok',
      says: /^Started the teammate explorer ada ag_1 .* SendMessage to "ada" reaches it/,
    },
    'a teammate without a name': {
      input: { ...order, team_name: 'geese' },
      end: 'failed',
      says: /^A teammate needs a name, so that others can write to it\.$/,
      after: expectNoneStarted,
    },
    'an unknown isolation': {
      input: { ...order, isolation: 'moon' },
      end: 'invalid',
      says: /"isolation"/,
    },
    'an unknown key': {
      input: { ...order, odd: 1 },
      end: 'invalid',
      says: /Unrecognized key: "odd"/,
    },
    'a blank prompt': {
      input: { ...order, prompt: ' \n' },
      end: 'invalid',
      says: /"prompt"/,
    },
  },
};

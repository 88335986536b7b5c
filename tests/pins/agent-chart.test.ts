import { expect, test } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import { agentMachine } from '../../src/machines/agent-machine.js';
import { DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';

type Node = (typeof agentMachine.states)[keyof typeof agentMachine.states];
type Transition = NonNullable<Node['always']>[number];

const targets = (transitions: readonly Transition[]) =>
  transitions.map(({ target }) => target?.map(({ key }) => key).join() ?? '(stays)');

/** A state as lines of `event → targets`, with the targets in the order in which they are tried. */
const linesOf = (node: Pick<Node, 'transitions' | 'always'>): readonly string[] => [
  ...[...node.transitions].map(
    ([event, transitions]) => `${event} → ${targets(transitions).join(' | ')}`,
  ),
  ...(node.always === undefined ? [] : [`always → ${targets(node.always).join(' | ')}`]),
];

test('the states and transitions of the agent machine do not change', () => {
  const chart = Object.entries<Node>(agentMachine.states).map(([key, node]) => [
    key,
    linesOf(node),
  ]);
  expect(Object.fromEntries([['anywhere', linesOf(agentMachine.root)], ...chart])).toEqual({
    anywhere: [
      'prompt.submit → (stays)',
      'call.ruled → (stays)',
      'call.asking → (stays)',
      'call.ended → (stays)',
      'agent.interrupt → waking',
      'children.changed → (stays)',
      'run.reviewed → (stays)',
      'storage.failed → stopped',
    ],
    waking: [
      'always → (stays) | tool-running | awaiting-permission | idle | stopped | compacting | retrying | (stays) | idle | tool-running | (stays) | stopped | (stays) | compacting | streaming',
    ],
    idle: [
      'prompt.submit → waking | waking',
      'run.begin → waking',
      'context.compact → compacting',
      'agent.interrupt → (stays) | waking',
      'always → waking',
    ],
    streaming: [
      'letters.taken → (stays)',
      'call.drafted → (stays)',
      'turn.ended → tool-running | waking',
      'turn.failed → waking',
      'room.needed → waking',
      'turn.refused → waking',
      'agent.interrupt → (stays)',
    ],
    'tool-running': ['call.ended → waking', 'always → waking'],
    'awaiting-permission': ['always → waking'],
    compacting: [
      'agent.interrupt → waking',
      'context.compacted → streaming | waking | waking',
      'compaction.declined → waking | waking | waking',
      'compaction.failed → waking',
    ],
    retrying: ['pause.over → streaming'],
    stopped: [],
  });
});

test('the agent machine has the same four machine slots', () => {
  const slots = [agentMachine.root, ...Object.values<Node>(agentMachine.states)].flatMap(
    ({ invoke }) => invoke.map(({ src }) => src),
  );
  expect(slots).toEqual(['crew', 'modelTurn', 'compactor', 'pause']);
});

test('the context of the agent machine has ids, counts and statuses, and no contents', () => {
  const empty = { openCalls: [{ id: 'c', completed: false }], waiting: 1, owesAnswer: false };
  const input = {
    id: 'a',
    staysIdle: false,
    hasFallback: false,
    hasReview: false,
    limits: DEFAULT_LIMITS,
  };
  const machine = agentMachine.provide({ actors: { crew: fromCallback(() => {}) } });
  const actor = createActor(machine, {
    input: { ...input, ...empty, pendingChildren: 0, cutShort: false },
  }).start();
  const { context } = actor.getSnapshot();
  actor.stop();
  expect(Object.keys(context).sort()).toEqual([
    'attempt',
    'calls',
    'compactions',
    'continuations',
    'cutShort',
    'declinedTurn',
    'declines',
    'failure',
    'hasFallback',
    'hasReview',
    'id',
    'isStreaming',
    'limits',
    'needsRoom',
    'onFallback',
    'overloads',
    'owesAnswer',
    'pendingChildren',
    'refusedTurns',
    'retries',
    'review',
    'sentBack',
    'staysIdle',
    'stop',
    'turn',
    'waiting',
  ]);
  expect([...context.calls]).toEqual([
    { id: 'c', status: 'judging', readOnly: false, safe: false, onlyWaits: false, refused: false },
  ]);
});

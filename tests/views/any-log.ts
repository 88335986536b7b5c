/** Random logs of swarms, valid and invalid. */
import fc from 'fast-check';
import { CHILD_KINDS } from '../../src/protocol/agent/agent-tag.js';
import { WAIT_REASONS } from '../../src/protocol/model/governor.js';
import { EVENT_TYPES, type SwarmEvent } from '../../src/protocol/session/swarm-event.js';
import { ReplayLog } from '../../src/views/replay/replay-log.js';
import { SwarmFold } from '../../src/views/swarm/swarm-fold.js';
import { meta } from '../store/contracts/records.js';

const AGENTS = ['a_1', 'a_2', 'a_3', 'a_4'];
const agent = fc.constantFrom(...AGENTS);
const call = fc.constantFrom('c_1', 'c_2', null);
const amount = fc.constantFrom(0, 1, 250);

/** Values for the fields of all types of events. */
const values = fc.record({
  call,
  child: agent,
  agentType: fc.constantFrom('runner', null),
  kind: fc.constantFrom(...CHILD_KINDS),
  description: fc.constantFrom('to run', 7),
  tool: fc.constantFrom('Bash', 'Task'),
  question: fc.constantFrom('q_1', 'q_2'),
  behavior: fc.constantFrom('allow', 'ask', 'deny'),
  origin: fc.record({
    kind: fc.constantFrom(...CHILD_KINDS),
    name: fc.constantFrom('ann', undefined),
    type: fc.constant('runner'),
    description: fc.constant('to run'),
    depth: fc.nat(3),
  }),
  epoch: fc.integer({ min: 1, max: 3 }),
  stopReason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens'),
  reason: fc.constantFrom('end_turn', 'stopped', 'budget', 9),
  why: fc.constantFrom(...WAIT_REASONS, 'odd'),
  purpose: fc.constantFrom('turn', 'summary'),
  worker: fc.constantFrom('w_1', undefined),
  usage: fc.constantFrom(
    { input: 1, output: 2, cacheRead: 3, cacheWrite5m: 0, cacheWrite1h: 0 },
    'none',
  ),
  cost: fc.constantFrom(0.5, null, undefined),
  usd: amount,
  left: amount,
  tokens: amount,
  tokensLeft: amount,
  estimatedTokens: amount,
  holder: fc.constantFrom('a_2', 'ann', undefined),
  model: fc.constantFrom('m', null),
});

const FREQUENT_TYPES = [
  'turn.started' as const,
  'turn.ended' as const,
  'run.started' as const,
  'tool.started' as const,
  'tool.ended' as const,
  'permission.requested' as const,
  'consultation.started' as const,
  'request.queued' as const,
];

export const anyEvents: fc.Arbitrary<readonly SwarmEvent[]> = fc
  .array(
    fc.tuple(
      // The start and the end of turns and calls occur more often than other events.
      fc.constantFrom(...EVENT_TYPES, ...FREQUENT_TYPES, ...FREQUENT_TYPES),
      agent,
      fc.constantFrom(null, ...AGENTS),
      fc.oneof(fc.nat(500), fc.integer({ min: -5_000, max: 90_000 })),
      values,
    ),
    { maxLength: 60, size: 'max' },
  )
  .map((plans) => {
    let ts = 1_700_000_000_000;
    const cited = new Map<string, number>();
    return plans.map(([type, id, parent, pause, rest], index): SwarmEvent => {
      ts += pause;
      const seq = (cited.get(id) ?? 0) + 1;
      cited.set(id, seq);
      return {
        v: 1,
        swarm: 's_1',
        seq: index + 1,
        ts,
        agent: id,
        parent,
        type,
        cites: { seq },
        ...rest,
      };
    });
  });

export const logOf = (events: readonly SwarmEvent[], isHeld = false): ReplayLog =>
  new ReplayLog(meta(), { events, left: 0, beginning: new SwarmFold('a_1') }, isHeld);

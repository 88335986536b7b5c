/**
 * Law 2 on the wire: the children of a fork send identical bodies up to the directive, and these
 * bodies extend the parent's last request. The histories are random, with a fixed seed.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptContent } from '../../../src/sdk/api/messages/prompt-content.js';
import type { RequestRecord } from '../../../src/simulator/request-log.js';
import type { Line, Reply, Rules } from '../../fakes/skein-process.js';
import { promptOf } from '../prompts.js';
import {
  bodyOf,
  isForkStart,
  lastTexts,
  PIXEL,
  swarmWire,
  taskCall,
  turnsIn,
} from '../swarm-wire.js';

const FILES = {
  'CLAUDE.md': 'Geese fly south. 🪿\n',
  'a.txt': 'ü🪿\r\n{"a":1}\n',
  'src/b.ts': 'export const b = "\\u2028";\n',
  'pixel.png': Buffer.from(PIXEL, 'base64'),
};

const READS = ['a.txt', 'src/b.ts', 'pixel.png', 'nowhere.txt'];

const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((it) => /\w/.test(it));

const otherCall = fc.oneof(
  fc.constantFrom(...READS).map((file_path) => ({ name: 'Read', input: { file_path } })),
  words.map((pattern) => ({ name: 'Glob', input: { pattern } })),
  fc.constant({ name: 'Lost', input: {} }),
);

const spoken = { thinking: fc.option(words), text: fc.option(words) };

interface Turn {
  readonly thinking: string | null;
  readonly text: string | null;
  readonly calls: readonly { name: string; input: Record<string, unknown> }[];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  ...spoken,
  calls: fc.array(otherCall, { minLength: 1, maxLength: 4 }),
});

interface History {
  readonly prompts: readonly { words: string; hasPicture: boolean; turns: readonly Turn[] }[];
  readonly fork: Turn;
}

const histories = (forks: number): fc.Arbitrary<History> =>
  fc.record({
    prompts: fc.array(
      fc.record({ words, hasPicture: fc.boolean(), turns: fc.array(turn, { maxLength: 2 }) }),
      { minLength: 1, maxLength: 3 },
    ),
    fork: fc.record({
      ...spoken,
      calls: fc.array(otherCall, { maxLength: 3 }).chain((others) => {
        const parts = Array.from({ length: forks }, (_, at) => taskCall(`Do part ${at}.`));
        const all = [...others, ...parts];
        return fc.shuffledSubarray(all, { minLength: all.length });
      }),
    }),
  });

const replyOf = ({ thinking, text, calls }: Turn): Reply => ({
  ...(thinking !== null && { thinking }),
  ...(text !== null && { text }),
  tool_use: [...calls],
});

/** The lead answers by its number of turns, forks by their task. */
const rulesFor = ({ prompts, fork }: History): Rules => {
  const answers = prompts.flatMap(({ turns }, at): (Reply | string)[] => [
    ...turns.map(replyOf),
    at === prompts.length - 1 ? replyOf(fork) : 'Said.',
  ]);
  return [
    { match: { lastUser: '<fork-task>' }, reply: 'This part is done.' },
    ...answers.map((reply, turn) => ({ match: { turn }, reply })),
    { reply: 'All done.' },
  ];
};

const promptsOf = ({ prompts }: History): PromptContent[] =>
  prompts.map(({ words: text, hasPicture }) => {
    const source = { type: 'base64', media_type: 'image/png', data: PIXEL };
    const picture = hasPicture ? [{ type: 'image', source } as const] : [];
    return [...picture, { type: 'text', text: `Say: ${text}` }];
  });

type Sent = Pick<RequestRecord, 'body' | 'headers'>;

/** Start of the last block of the newest message: the directive of a fork. */
const directiveAt = ({ body }: Sent): number => {
  const last = bodyOf({ body }).messages.at(-1).content.at(-1) as Line;
  const tail = Buffer.from(`${JSON.stringify(last)}]}]}`);
  const at = body.length - tail.length;
  return body.subarray(at).equals(tail) ? at : -1;
};

const firstDifference = (a: Buffer, b: Buffer): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) if (a[at] !== b[at]) return at;
  return length;
};

const FIXED_FIELDS = [
  'model',
  'tools',
  'system',
  'thinking',
  'output_config',
  'max_tokens',
] as const;

/** Violations of law 2 in the first requests of forks. Empty if it holds. */
const faultsOf = (parent: Sent, forks: readonly Sent[]): string[] => {
  const [first, ...rest] = forks;
  if (first === undefined) return ['no agent was forked'];
  const faults: string[] = [];
  const before = bodyOf(parent);
  for (const [at, fork] of forks.entries()) {
    const body = bodyOf(fork);
    for (const name of FIXED_FIELDS) {
      if (JSON.stringify(body[name]) !== JSON.stringify(before[name])) {
        faults.push(`fork ${at} differs in ${name}`);
      }
    }
    if (fork.headers['anthropic-beta'] !== parent.headers['anthropic-beta']) {
      faults.push(`fork ${at} differs in betas`);
    }
    if (Object.keys(body).at(-1) !== 'messages') faults.push(`fork ${at} ends otherwise`);
    if (!promptOf(fork.body).startsWith(promptOf(parent.body))) {
      faults.push(`fork ${at} does not extend its parent`);
    }
    if (directiveAt(fork) === -1) faults.push(`fork ${at} has data after its directive`);
  }
  for (const [at, fork] of rest.entries()) {
    const difference = firstDifference(first.body, fork.body);
    if (difference < Math.max(directiveAt(first), directiveAt(fork))) {
      faults.push(`fork ${at + 1} leaves the first fork at ${difference}, before its directive`);
    }
  }
  return faults;
};

/** Distinct placeholder results in the request of a fork. Checks that each call has a result. */
const placeholders = (fork: Sent, calls: number): readonly unknown[] => {
  const content = bodyOf(fork).messages.at(-1).content as Line[];
  const results = content.filter(({ type }) => type === 'tool_result');
  expect(results).toHaveLength(calls);
  expect(new Set(results.map(({ tool_use_id }) => tool_use_id)).size).toBe(calls);
  return [...new Set(results.map(({ content, is_error }) => JSON.stringify([content, is_error])))];
};

const sentBy = async (history: History) => {
  const wire = await swarmWire(rulesFor(history), { files: FILES });
  await wire.say(...promptsOf(history));
  const sent = wire.sent();
  const forks = sent.filter(isForkStart);
  const parent = sent.findLast((request) => turnsIn(request) === turnsIn(forks[0] as Sent) - 1);
  return { sent, forks, parent: parent as Sent };
};

const partOf = (fork: Sent) => /Do part \d+/.exec(lastTexts(fork))?.[0];

const SEED = 20_260;

describe('law 2, fork identity', () => {
  test.each([
    { forks: 2, numRuns: 12 },
    { forks: 10, numRuns: 5 },
    { forks: 100, numRuns: 1 },
  ])(
    '$forks forks of any history send the same prompt up to the directive',
    async ({ forks: count, numRuns }) => {
      const holds = async (history: History) => {
        const { sent, forks, parent } = await sentBy(history);
        expect(sent.filter(({ status }) => status !== 200)).toEqual([]);
        expect(forks).toHaveLength(count);
        expect(new Set(forks.map(partOf)).size).toBe(count);
        expect(faultsOf(parent, forks)).toEqual([]);
        for (const fork of forks)
          expect(placeholders(fork, history.fork.calls.length)).toHaveLength(1);
      };
      await fc.assert(fc.asyncProperty(histories(count), holds), {
        numRuns,
        seed: SEED,
        endOnFailure: true,
      });
    },
  );

  test('catches manipulated forks', async () => {
    const { parent, forks } = await sentBy({
      prompts: [{ words: 'geese', hasPicture: true, turns: [] }],
      fork: {
        thinking: 'Hm.',
        text: null,
        calls: [taskCall('Do part 0.'), taskCall('Do part 1.')],
      },
    });
    const [first, second] = forks as readonly Sent[] as [Sent, Sent];
    for (const [found, instead, fault] of TAMPERED) {
      const body = Buffer.from(second.body.toString().replace(found, instead));
      expect([fault, body.equals(second.body)]).toEqual([fault, false]);
      expect(faultsOf(parent, [first, { ...second, body }]).join()).toContain(fault);
    }
    const headers = { ...second.headers, 'anthropic-beta': 'other' };
    expect(faultsOf(parent, [first, { ...second, headers }])).toEqual(['fork 1 differs in betas']);
  });
});

const TAMPERED = [
  [/"model":"[^"]*"/, '"model":"claude-haiku-4-5"', 'differs in model'],
  [/"max_tokens":\d+/, '"max_tokens":7', 'differs in max_tokens'],
  [/"name":"Read"/, '"name":"Reed"', 'differs in tools'],
  [/"thinking":"Hm\."/, '"thinking":"Hm!"', 'before its directive'],
  [/"media_type":"image\/png"/, '"media_type":"image/gif"', 'does not extend its parent'],
  [/"content":"No result/, '"content":"Nor result', 'before its directive'],
  [/(.*),"cache_control":\{"type":"ephemeral"[^}]*\}/s, '$1', 'before its directive'],
  [/\]\}\]\}$/, ']}],"stop_sequences":[]}', 'ends otherwise'],
] as const;

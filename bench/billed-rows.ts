/** Rows for the billed input tokens of a swarm, compared with the minimum for the same requests. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, type MessagesRequest } from '../src/simulator/messages-request.js';
import { parseBody } from '../src/simulator/read-body.js';
import type { RequestRecord } from '../src/simulator/request-log.js';
import { startSimulator } from '../src/simulator/start-simulator.js';
import { validateRequest } from '../src/simulator/validate-request.js';
import type { Bench } from './bench.js';
import { billedTokens, leastTokens } from './billed-tokens.js';
import { contenders } from './contender.js';
import type { Row } from './row.js';
import { limitsFor } from './swarm-kit.js';
import { READERS, SWARM_PROMPTS, swarmPlaybook } from './swarm-playbook.js';

const WIDTHS = [10, 30] as const;
/** Delay of a real answer, so that siblings send their requests before the first answer starts. */
const MS_TO_FIRST_TOKEN = 100;

/** Returns an instruction file with about 20 tokens per line. */
const rules = (lines: number): string =>
  Array.from(
    { length: lines },
    (_, line) =>
      `- Rule ${line}: keep functions short, name things in full words, and test them.\n`,
  ).join('');

interface BilledCase {
  readonly id: string;
  readonly what: string;
  readonly prompt: (width: number) => string;
  /** Requests of the lead and of each child. */
  readonly requests: { readonly lead: number; readonly child: number };
  /** Content of the project's instruction file. */
  readonly instructions?: string;
  readonly target: number;
}

const CASES: readonly BilledCase[] = [
  {
    id: 'forks',
    what: 'forks',
    prompt: (width) => SWARM_PROMPTS.study(width, 'forks'),
    requests: { lead: 3, child: 3 },
    target: 1.02,
  },
  {
    id: 'readers',
    what: 'typed agents',
    prompt: (width) => SWARM_PROMPTS.study(width, 'readers'),
    requests: { lead: 3, child: 3 },
    instructions: rules(100),
    target: 1.02,
  },
  {
    id: 'instructions',
    what: 'typed agents with 50,000 tokens of instructions',
    prompt: SWARM_PROMPTS.answer,
    requests: { lead: 2, child: 1 },
    instructions: rules(2_500),
    target: 1.13,
  },
];

export const billed = async ({ arena }: Bench): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const billedCase of CASES) {
    for (const width of WIDTHS) {
      const file = join(arena.workspace, 'CLAUDE.md');
      if (billedCase.instructions !== undefined) writeFileSync(file, billedCase.instructions);
      try {
        rows.push(...rowsOf(billedCase, width, await requestsOf(arena, billedCase, width)));
      } finally {
        rmSync(file, { force: true });
      }
    }
  }
  return rows;
};

const requestsOf = async (
  arena: Bench['arena'],
  { what, prompt, requests: { lead, child } }: BilledCase,
  width: number,
): Promise<readonly RequestRecord[]> => {
  const simulator = await startSimulator({
    script: swarmPlaybook([width], MS_TO_FIRST_TOKEN),
    keepRequests: 10_000,
  });
  try {
    const runner = contenders(arena, {
      head: '',
      skeinArgs: ['--agents', JSON.stringify(READERS)],
      env: limitsFor(width),
    });
    const process = runner.start('ours', prompt(width), simulator.url);
    const [code] = (await once(process, 'exit')) as [number | null];
    const { requests } = simulator;
    // Requests that only warm a cache are extra.
    if (code !== 0 || requests.length < lead + child * width) {
      throw new Error(`A swarm of ${width} ${what} ended with ${code} after ${requests.length}.`);
    }
    return requests.filter(({ usage }) => usage !== undefined);
  } finally {
    await simulator.close();
  }
};

/** Returns the text of the first block of the conversation. */
const openingOf = (body: MessagesRequest | undefined): string =>
  String(blocksOf(body?.messages[0]?.content ?? [])[0]?.text);

/**
 * Makes the lead's opening a block of its own where text follows in the same block: an ideal driver
 * writes the opening once for all agents.
 */
const withOpeningApart = (body: MessagesRequest, opening: string): MessagesRequest => {
  const [first, ...rest] = body.messages;
  if (first === undefined) return body;
  const [block, ...more] = blocksOf(first.content);
  const text = openingOf(body);
  if (block === undefined || text === opening || !text.startsWith(opening)) return body;
  const apart = [
    { ...block, text: opening },
    { ...block, text: text.slice(opening.length) },
  ];
  return { ...body, messages: [{ ...first, content: [...apart, ...more] }, ...rest] };
};

const rowsOf = (
  { id, what, target }: BilledCase,
  width: number,
  requests: readonly RequestRecord[],
): Row[] => {
  const paid = requests.reduce((sum, { usage }) => sum + (usage ? billedTokens(usage) : 0), 0);
  const bodies = requests.map(({ body }) => validateRequest(parseBody(body)));
  const opening = openingOf(bodies[0]);
  const least = leastTokens(
    requests.map(({ headers }, index) => ({
      body: withOpeningApart(bodies[index] as MessagesRequest, opening),
      betas: String(headers['anthropic-beta'] ?? ''),
    })),
  );
  const title = `billed input of ${width} ${what}`;
  return [
    {
      id: `billed-${id}-${width}`,
      what: title,
      unit: 'tokens',
      target,
      floor: [least.written],
      ours: [paid],
    },
    {
      id: `billed-${id}-${width}-hindsight`,
      what: `${title}, in hindsight`,
      unit: 'tokens',
      floor: [least.inHindsight],
      ours: [paid],
    },
  ];
};

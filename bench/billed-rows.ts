/** Rows for the billed input tokens of a swarm, compared with the minimum for the same requests. */
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBody } from '../src/simulator/read-body.js';
import type { RequestRecord } from '../src/simulator/request-log.js';
import { startSimulator } from '../src/simulator/start-simulator.js';
import { validateRequest } from '../src/simulator/validate-request.js';
import type { Bench } from './bench.js';
import { billedTokens, leastTokens } from './billed-tokens.js';
import { contenders } from './contender.js';
import type { Row } from './row.js';
import { limitsFor } from './swarm-kit.js';
import { type ChildType, READERS, SWARM_PROMPTS, swarmPlaybook } from './swarm-playbook.js';

const WIDTHS = [10, 30] as const;
/** Delay of a real answer, so that siblings send their requests before the first answer starts. */
const MS_TO_FIRST_TOKEN = 100;

export const billed = async ({ arena }: Bench): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  for (const type of ['forks', 'readers'] as const) {
    for (const width of WIDTHS) {
      const instructions = join(arena.workspace, 'CLAUDE.md');
      if (type === 'readers') writeFileSync(instructions, INSTRUCTIONS);
      try {
        rows.push(...rowsOf(type, width, await requestsOf(arena, type, width)));
      } finally {
        rmSync(instructions, { force: true });
      }
    }
  }
  return rows;
};

const requestsOf = async (
  arena: Bench['arena'],
  type: ChildType,
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
    const child = runner.start('ours', SWARM_PROMPTS.study(width, type), simulator.url);
    const [code] = (await once(child, 'exit')) as [number | null];
    const { requests } = simulator;
    // Three requests of the lead and three of each child. Requests that only warm a cache are extra.
    if (code !== 0 || requests.length < 3 + 3 * width) {
      throw new Error(`A swarm of ${width} ${type} ended with ${code} after ${requests.length}.`);
    }
    return requests.filter(({ usage }) => usage !== undefined);
  } finally {
    await simulator.close();
  }
};

const rowsOf = (type: ChildType, width: number, requests: readonly RequestRecord[]): Row[] => {
  const paid = requests.reduce((sum, { usage }) => sum + (usage ? billedTokens(usage) : 0), 0);
  const least = leastTokens(
    requests.map(({ body, headers }) => ({
      body: validateRequest(parseBody(body)),
      betas: String(headers['anthropic-beta'] ?? ''),
    })),
  );
  const what = `billed input of ${width} ${type === 'forks' ? 'forks' : 'typed agents'}`;
  const id = `billed-${type}-${width}`;
  return [
    {
      id,
      what,
      unit: 'tokens',
      target: 1.02,
      floor: [least.written],
      ours: [paid],
    },
    {
      id: `${id}-hindsight`,
      what: `${what}, in hindsight`,
      unit: 'tokens',
      floor: [least.inHindsight],
      ours: [paid],
    },
  ];
};

/** Memory file of a typical project, about 2,000 tokens. */
const INSTRUCTIONS = Array.from(
  { length: 100 },
  (_, line) => `- Rule ${line}: keep functions short, name things in full words, and test them.\n`,
).join('');

/** Limits against a model that starts agents without end. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { History } from '../../../src/context/history/history.js';
import { type JournalRecord, parseRecord } from '../../../src/protocol/session/journal-record.js';
import { type Reply, type Scene, setScene } from '../../fakes/skein-process.js';

const fortyTasks: Reply = {
  tool_use: Array.from({ length: 40 }, (_, at) => ({
    name: 'Task',
    input: {
      description: `part ${at}`,
      prompt: 'Storm on.',
      ...(at % 3 > 0 && { subagent_type: 'stormer', run_in_background: at % 3 === 1 }),
    },
  })),
};

const AGENTS = JSON.stringify({
  stormer: { description: 'Storms', prompt: 'You storm.', tools: 'Read, Task' },
});

const LIMITS = {
  SKEIN_MAX_AGENTS: '12',
  SKEIN_MAX_CONCURRENT_AGENTS: '3',
  SKEIN_MAX_DEPTH: '2',
  // The storm must run in little memory.
  NODE_OPTIONS: '--max-old-space-size=96',
};

const recordIn = (line: string): JournalRecord => {
  const record = parseRecord(line);
  if (record === undefined) throw new Error(`This line is not a record: ${line}`);
  return record;
};

/** Stop reason and number of calls without a result of every agent of the only session. */
const outcomes = async ({ skeinHome }: Scene) => {
  const [session = ''] = await readdir(join(skeinHome, 'sessions'));
  const folder = join(skeinHome, 'sessions', session, 'agents');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  return Promise.all(
    files.map(async (name) => {
      const history = new History();
      const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n');
      for (const line of lines) history.apply(recordIn(line));
      const open = [...history.calls.values()].filter(({ result }) => result === null);
      return { reason: history.ended?.reason, isFinal: history.ended?.final, open: open.length };
    }),
  );
};

const setStormScene = () =>
  setScene([
    { match: { toolResult: '/is the limit|would be deeper/' }, reply: 'I did the rest myself.' },
    { match: { lastUser: 'has ended' }, reply: 'I did the rest myself.' },
    { reply: fortyTasks },
  ]);

test('the agent limits end a spawn storm, and every agent and call is journaled as ended', async () => {
  const scene = await setStormScene();
  const { code, stdout } = await scene.run(['-p', 'Storm.', '--agents', AGENTS], { env: LIMITS });
  expect([code, stdout]).toEqual([0, 'I did the rest myself.\n']);
  expect(await outcomes(scene)).toEqual(
    Array(13).fill({ reason: 'end_turn', isFinal: true, open: 0 }),
  );
});

test('a budget ends a spawn storm with exit code 3, and every call is journaled as ended', async () => {
  const scene = await setStormScene();
  const args = [
    '-p',
    'Storm.',
    '--agents',
    AGENTS,
    '--max-budget-usd',
    '0.06',
    '--output-format',
    'json',
  ];
  const { code, result } = await scene.run(args, { env: LIMITS });
  expect([code, result.stop_reason]).toEqual([3, 'budget']);
  expect(result.total_cost_usd).toBeCloseTo(scene.simulator.totals.cost ?? 0, 9);
  const ended = await outcomes(scene);
  expect(ended.filter(({ isFinal, open }) => isFinal !== true || open > 0)).toEqual([]);
});

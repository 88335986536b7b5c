/**
 * Law 7 for the shared task list: after a crash at any point each call has changed the list once,
 * and the model has received its result.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { FileTaskList } from '../../../src/store/files/tasks/file-task-list.js';
import { countedRun, failuresAt, killPoints, killThenResume } from '../killed-run.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const FORMAT = ['--output-format', 'json'];

const create = (subject: string) => ({ name: 'TaskCreate', input: { subject, description: '' } });
const update = (change: object) => ({ name: 'TaskUpdate', input: { taskId: '1', ...change } });

const script = {
  rules: [
    { match: { turn: 0 }, reply: { tool_use: [create('fly'), create('land')] } },
    {
      match: { turn: 1 },
      reply: { tool_use: [update({ status: 'in_progress' }), update({ addBlocks: ['2'] })] },
    },
    { match: { turn: 2 }, reply: { tool_use: [update({ status: 'completed' })] } },
    { reply: 'All done.' },
  ],
};

const tasksOf = async ({ artifacts }: PrintScene, session: string) => {
  const items = await new FileTaskList(join(artifacts(session), '..'), systemClock).list();
  return items.map(({ id, subject, status, owner, version }) =>
    [id, subject, status, owner, version].join(' '),
  );
};

const resultsIn = (scene: PrintScene): readonly string[] => {
  const { messages } = JSON.parse(scene.bodies().at(-1)?.toString() ?? '{}') as {
    messages: { content: { type: string; content?: string }[] }[];
  };
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [block.content ?? ''] : [])),
  );
};

const EXPECTED = {
  tasks: ['1 fly completed lead 3', '2 land pending  2'],
  results: [
    'Task 1 created: fly',
    'Task 2 created: land',
    'Task 1 is now: in_progress, owner lead.',
    'Task 1 is now: in_progress, owner lead.',
    'Task 1 is now: completed, owner lead.',
  ],
};

const stateOf = async (scene: PrintScene, session: string) => ({
  tasks: await tasksOf(scene, session),
  results: resultsIn(scene),
});

const killAndResume = async (at: number) => {
  const scene = await openPrintScene(script);
  try {
    const { killed, after } = await killThenResume(scene, at, FORMAT);
    const ended = { code: after.code, ...(await stateOf(scene, 'kill')) };
    const isRight = isDeepStrictEqual(ended, { code: 0, ...EXPECTED });
    return { at, killed, faults: isRight ? [] : [JSON.stringify(ended)] };
  } finally {
    await scene.close();
  }
};

test('law 7: a change of the shared task list is made once, even if its process is killed', async () => {
  const scene = await openPrintScene(script);
  const { ended, writes } = await countedRun(scene, FORMAT);
  expect(ended.code).toBe(0);
  expect(await stateOf(scene, 'whole')).toEqual(EXPECTED);
  await scene.close();
  // The last writes happen after the last answer.
  expect(await failuresAt(killPoints(1, writes - 2), 4, killAndResume)).toEqual([]);
}, 300_000);

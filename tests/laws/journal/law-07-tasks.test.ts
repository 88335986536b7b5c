/**
 * Law 7 for the shared list of work: whenever a process dies, each call has changed the list once and the
 * model is told what it came to, as if nothing had happened.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import { FileTaskList } from '../../../src/store/files/tasks/file-task-list.js';
import { countedRun, killPoints, killThenResume, wrongAt } from '../killed-run.js';
import { makePlace, type Place } from '../workspace.js';

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

const workOf = async ({ artifacts }: Place, session: string) => {
  const items = await new FileTaskList(join(artifacts(session), '..'), systemClock).list();
  return items.map(({ id, subject, status, owner, version }) =>
    [id, subject, status, owner, version].join(' '),
  );
};

const resultsIn = (place: Place): readonly string[] => {
  const { messages } = JSON.parse(place.bodies().at(-1)?.toString() ?? '{}') as {
    messages: { content: { type: string; content?: string }[] }[];
  };
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [block.content ?? ''] : [])),
  );
};

const WHOLE = {
  work: ['1 fly completed lead 3', '2 land pending  2'],
  results: [
    'Task 1 created: fly',
    'Task 2 created: land',
    'Task 1 is now: in_progress, owner lead.',
    'Task 1 is now: in_progress, owner lead.',
    'Task 1 is now: completed, owner lead.',
  ],
};

const stateOf = async (place: Place, session: string) => ({
  work: await workOf(place, session),
  results: resultsIn(place),
});

const killAndResume = async (at: number) => {
  const place = await makePlace(script);
  try {
    const { killed, after } = await killThenResume(place, at, FORMAT);
    const ended = { code: after.code, ...(await stateOf(place, 'kill')) };
    const isRight = isDeepStrictEqual(ended, { code: 0, ...WHOLE });
    return { at, killed, faults: isRight ? [] : [JSON.stringify(ended)] };
  } finally {
    await place.close();
  }
};

test('law 7: a change of the list of work is made once, whenever its process is killed', async () => {
  const place = await makePlace(script);
  const { ended, writes } = await countedRun(place, FORMAT);
  expect(ended.code).toBe(0);
  expect(await stateOf(place, 'whole')).toEqual(WHOLE);
  await place.close();
  // The last writes come after the last words.
  expect(await wrongAt(killPoints(1, writes - 2), 4, killAndResume)).toEqual([]);
}, 300_000);

/**
 * Law 7 for the shared list of work: whenever a process dies, each call has changed the list once and the
 * model is told what it came to, as if nothing had happened.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/protocol/clock.js';
import { WorkFiles } from '../../src/store/work-files.js';
import { makePlace, type Place } from './workspace.js';

const KILLER = { NODE_OPTIONS: `--import ${resolve('tests/laws/kill-at-write.mjs')}` };
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
  const items = await new WorkFiles(join(artifacts(session), '..'), systemClock).list();
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
    ...['Task 1 created: fly', 'Task 2 created: land'],
    'Task 1 is kept: in_progress, owner lead.',
    'Task 1 is kept: in_progress, owner lead.',
    'Task 1 is kept: completed, owner lead.',
  ],
};

const stateOf = async (place: Place, session: string) => ({
  work: await workOf(place, session),
  results: resultsIn(place),
});

const killAndResume = async (at: number) => {
  const place = await makePlace(script);
  try {
    const env = { ...KILLER, KILL_AT: String(at), KILL_WHEN: 'before' };
    const killed = await place.run(['Do it.', '--session-id', 'kill', ...FORMAT], env);
    const resume = ['--resume', 'kill', ...FORMAT];
    let after = await place.run(resume);
    const unheard = !place.journal('kill').some(({ type }) => type === 'letter.received');
    if (unheard) after = await place.run(['Do it.', ...resume]);
    const state = await stateOf(place, 'kill');
    return { at, killed: killed.signal, code: after.code, ...state };
  } finally {
    await place.close();
  }
};

/** Two cores: more at once only wait for each other. */
const WIDTH = 4;

test('law 7: a change of the list of work is made once, whenever its process is killed', async () => {
  const place = await makePlace(script);
  const file = join(place.home, 'count');
  const env = { ...KILLER, KILL_COUNT_FILE: file };
  expect(await place.run(['Do it.', '--session-id', 'whole', ...FORMAT], env)).toMatchObject({
    code: 0,
  });
  expect(await stateOf(place, 'whole')).toEqual(WHOLE);
  const count = Number(readFileSync(file, 'utf8'));
  await place.close();
  // The last writes come after the last words.
  const points = Array.from({ length: count - 2 }, (_, index) => index + 1);
  const wrong: unknown[] = [];
  for (let first = 0; first < points.length; first += WIDTH) {
    for (const ended of await Promise.all(points.slice(first, first + WIDTH).map(killAndResume))) {
      if (!isDeepStrictEqual(ended, { at: ended.at, ...ENDED, ...WHOLE })) wrong.push(ended);
    }
  }
  expect(wrong).toEqual([]);
}, 300_000);

const ENDED = { killed: 'SIGKILL', code: 0 };

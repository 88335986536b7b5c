/** `skein stop lead` from a second terminal while a background agent runs. */
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { DRIVEN, type Line, setScene, userLine } from '../../fakes/skein-process.js';

const isResult = ({ type }: Line) => type === 'result';

test('a stopped lead and its agents send no requests until the person writes', async () => {
  const task = { description: 'long', prompt: 'job long', subagent_type: 'explorer' };
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: {
        tool_use: [{ name: 'Task', input: { ...task, run_in_background: true, name: 'slow' } }],
      },
    },
    { match: { lastUser: 'and now' }, reply: 'Nothing was found.' },
    { match: { firstUser: 'begin' }, reply: 'Noted.' },
    { reply: { text: 'I looked at', chunkBytes: 4, chunkDelayMs: 600_000 } },
  ]);
  const json = async (...args: string[]): Promise<Line> => {
    const { code, stdout } = await scene.run([...args, '--json']);
    return { code, ...JSON.parse(stdout || '{}') };
  };
  const lead = scene.start([...DRIVEN, '--session-id', 'swarm']);
  lead.say(userLine('begin'));
  await lead.line(isResult);
  await eventually('the agent streams', () => scene.bodies().length === 3);

  expect(await json('stop', 'lead')).toMatchObject({
    code: 0,
    ok: true,
    sentence: 'The lead is stopped, with all its agents.',
  });
  const [swarm] = (await json('ps', 'swarm')).swarms as [Line];
  expect(swarm.agents.map(({ status, state }: Line) => [status, state])).toEqual([
    ['running', 'idle'],
    ['stopped', 'stopped'],
  ]);
  expect((await scene.run(['send', 'slow', 'wake'])).code).toBe(1);
  expect(scene.bodies()).toHaveLength(3);

  lead.say(userLine('and now?'));
  await lead.line(({ result }) => result === 'Nothing was found.');
  const sent = JSON.stringify(scene.bodies()[3]?.messages.at(-1));
  expect(sent).toMatch(/The user stopped it.*and now\?/);

  expect(await json('resume', 'lead')).toMatchObject({ code: 0, sentence: 'The lead resumes.' });
  await eventually('the lead resumes', () =>
    JSON.stringify(scene.bodies().at(-1)).includes('Continue where you stopped.'),
  );
  lead.endInput();
  expect(await lead.ended).toMatchObject({ code: 0 });
});

/** Teammates become idle, are listed and messaged from a second terminal, and resume. */
import { expect, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { DRIVEN, type Line, type Rules, setScene, userLine } from '../../fakes/skein-process.js';

const task = (name: string) => ({
  name: 'Task',
  input: {
    description: `be ${name}`,
    prompt: `part-${name}`,
    subagent_type: 'explorer',
    name,
    team_name: 'geese',
  },
});
const sendMessage = (to: string, message: string) => ({
  name: 'SendMessage',
  input: { to, message },
});

const RULES: Rules = [
  {
    match: { firstUser: 'part-ada', turn: 0 },
    reply: { tool_use: [sendMessage('bob', 'Hello bob.')] },
  },
  { match: { firstUser: 'part-ada', lastUser: 'what now' }, reply: 'ADA-AGAIN.' },
  { match: { firstUser: 'part-ada' }, reply: 'ADA-RESTS.' },
  { match: { firstUser: 'part-bob', lastUser: 'Hello bob' }, reply: 'BOB-HEARD.' },
  { match: { firstUser: 'part-bob' }, reply: 'BOB-RESTS.' },
  { match: { turn: 0 }, reply: { tool_use: [task('ada'), task('bob')] } },
  { match: { lastUser: 'ask her' }, reply: { tool_use: [sendMessage('ada', 'So what now?')] } },
  { reply: 'I see.' },
];

const bodyOf = (bodies: readonly Line[], name: string): string =>
  JSON.stringify(
    bodies.findLast(({ messages }) => JSON.stringify(messages[0]).includes(`part-${name}`)),
  );

test('teammates are shown as idle, and resume when an agent or a person sends a message', async () => {
  const scene = await setScene(RULES);
  const driven = scene.start(DRIVEN);
  driven.say(userLine('Begin.'));
  const isIdle = (name: string) => (line: Line) => line.is_idle === true && line.name === name;
  await driven.line(isIdle('ada'));
  await eventually('bob has read the message of ada', () =>
    bodyOf(scene.bodies(), 'bob').includes('Hello bob.') ? true : undefined,
  );
  const agents = await eventually('both are idle', async () => {
    const seen = JSON.parse((await scene.run(['ps', '--json'])).stdout) as Line;
    const teammates = seen.swarms[0]?.agents.filter(({ kind }: Line) => kind === 'teammate') ?? [];
    return teammates.length === 2 && teammates.every(({ status }: Line) => status === 'idle')
      ? teammates
      : undefined;
  });
  expect(agents.map(({ name }: Line) => name)).toEqual(['ada', 'bob']);
  expect((await scene.run(['ps'])).stdout).toMatch(/ada.*idle/);
  const sent = await scene.run(['send', 'ada', 'And what now?']);
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('has the message') });
  await eventually('ada has read the message', () =>
    bodyOf(scene.bodies(), 'ada').includes('And what now?') ? true : undefined,
  );
  driven.endInput();
  const { code, lines } = await driven.ended;
  expect(code).toBe(0);
  const idle = lines
    .filter(({ is_idle }) => is_idle)
    .map(({ name, summary }) => `${name}: ${summary}`);
  expect(idle).toContain('ada: ADA-AGAIN.');
  expect(idle).toContain('bob: BOB-HEARD.');
});

test('a print run ends when all teammates are idle, and a resumed run keeps their conversations', async () => {
  const scene = await setScene(RULES);
  const first = await scene.run(['-p', 'Begin.', '--output-format', 'json']);
  expect([first.code, first.result.result]).toEqual([0, 'I see.']);
  const ended = JSON.parse((await scene.run(['ps', '--all', '--json'])).stdout) as Line;
  const statuses = ended.swarms[0].agents.map(({ status }: Line) => status);
  expect(statuses.filter((status: string) => status !== 'ended')).toEqual([]);
  const next = await scene.run(['-p', 'Please ask her.', '--continue']);
  expect(next.code).toBe(0);
  const ada = bodyOf(scene.bodies(), 'ada');
  expect(ada).toContain('So what now?');
  expect(ada).toContain('ADA-RESTS.');
});

/** More agents than request slots: `skein ps` shows which agents wait for a slot. */
import { expect, test } from 'vitest';
import { type Line, setScene } from '../../fakes/skein-process.js';

test('an agent whose request waits for a slot is shown as waiting, not as streaming', async () => {
  const task = (name: string) => ({
    name: 'Task',
    input: {
      description: `the ${name}`,
      prompt: 'Work.',
      name,
      subagent_type: 'explorer',
      run_in_background: true,
    },
  });
  const scene = await setScene([
    {
      match: { firstUser: 'begin', turn: 0 },
      reply: { tool_use: ['one', 'two', 'three'].map(task) },
    },
    { match: { firstUser: 'begin' }, reply: 'Noted.' },
    { reply: { text: 'I am slow.', chunkBytes: 4, chunkDelayMs: 600_000 } },
  ]);
  const env = { SKEIN_MAX_CONCURRENT_REQUESTS: '1' };
  scene.start(['-p', 'begin', '--session-id', 'swarm'], { env }).endInput();
  const agents = async (): Promise<readonly Line[]> => {
    const { stdout } = await scene.run(['ps', 'swarm', '--json']);
    const [swarm] = stdout === '' ? [] : ((JSON.parse(stdout) as Line).swarms as Line[]);
    return (swarm?.agents ?? []).filter(({ depth }: Line) => depth === 1);
  };
  const states = async () => (await agents()).map(({ state }) => state as string).toSorted();
  await expect.poll(states, { timeout: 20_000 }).toEqual(['streaming', 'waiting', 'waiting']);
  const waiting = (await agents()).filter(({ state }) => state === 'waiting');
  expect(waiting.map(({ waitsFor, status }) => [waitsFor, status])).toEqual(
    Array(2).fill(['requests', 'running']),
  );
  const text = await scene.run(['ps', 'swarm']);
  expect(text.stdout).toMatch(/ waiting .* waits for a request slot/);
  const { stdout } = await scene.run(['logs', 'swarm']);
  expect(stdout).toContain('the request for the next turn waits for a request slot');
});

/** Limits of zero, from a settings file and from a variable: the same, and never as if nothing were set. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resultsIn, setScene } from '../../fakes/skein-process.js';

const WAYS = ['file', 'variable'] as const;

/** A run whose lead asks for an agent, with a limit of zero. */
const runWith = async (key: string, variable: string, way: (typeof WAYS)[number]) => {
  const input = { description: 'look', prompt: 'Look.', subagent_type: 'explorer' };
  const scene = await setScene([
    { match: { firstUser: 'begin', turn: 0 }, reply: { tool_use: { name: 'Task', input } } },
    { reply: 'Done.' },
  ]);
  if (way === 'file') {
    await mkdir(scene.skeinHome, { recursive: true });
    const settings = JSON.stringify({ skein: { [key]: 0 } });
    await writeFile(join(scene.skeinHome, 'settings.json'), settings);
  }
  const env = way === 'file' ? {} : { [variable]: '0' };
  const { code, stdout, stderr } = await scene.run(['-p', 'begin'], { env });
  return { code, stdout, stderr, bodies: scene.bodies() };
};

describe.each(WAYS)('zero in a %s', (way) => {
  test.each([
    ['maxAgents', 'SKEIN_MAX_AGENTS', 'skein.maxAgents'],
    ['maxConcurrentAgents', 'SKEIN_MAX_CONCURRENT_AGENTS', 'skein.maxConcurrentAgents is 0'],
    ['maxDepth', 'SKEIN_MAX_DEPTH', 'skein.maxDepth'],
  ])('of %s is no agents, and Task says so', async (key, variable, sentence) => {
    const { code, stderr, bodies } = await runWith(key, variable, way);
    expect({ code, requests: bodies.length }).toEqual({ code: 0, requests: 2 });
    expect(JSON.stringify(resultsIn(bodies[1]))).toContain(sentence);
    expect(stderr).not.toContain('ignored');
  });

  test('of maxConcurrentRequests lets no run begin', async () => {
    const { code, stdout, stderr, bodies } = await runWith(
      'maxConcurrentRequests' as const,
      'SKEIN_MAX_CONCURRENT_REQUESTS' as const,
      way,
    );
    expect({ code, stdout, stderr, requests: bodies.length }).toEqual({
      code: 2,
      stdout: '',
      requests: 0,
      stderr:
        'skein: No request may be sent: skein.maxConcurrentRequests is 0. Set it to 1 or more.\n',
    });
  });
});

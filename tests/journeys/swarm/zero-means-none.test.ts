/** Limits of zero from a settings file and from a variable: zero is not treated as unset. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resultsIn, setScene } from '../../fakes/skein-process.js';

const SOURCES = ['file', 'variable'] as const;

/** Runs a lead that starts an agent, with a limit of zero. */
const runWith = async (key: string, variable: string, source: (typeof SOURCES)[number]) => {
  const input = { description: 'look', prompt: 'Look.', subagent_type: 'explorer' };
  const scene = await setScene([
    { match: { firstUser: 'begin', turn: 0 }, reply: { tool_use: { name: 'Task', input } } },
    { reply: 'Done.' },
  ]);
  if (source === 'file') {
    await mkdir(scene.skeinHome, { recursive: true });
    const settings = JSON.stringify({ skein: { [key]: 0 } });
    await writeFile(join(scene.skeinHome, 'settings.json'), settings);
  }
  const env = source === 'file' ? {} : { [variable]: '0' };
  const { code, stdout, stderr } = await scene.run(['-p', 'begin'], { env });
  return { code, stdout, stderr, bodies: scene.bodies() };
};

describe.each(SOURCES)('a limit of zero in a %s', (source) => {
  test.each([
    ['maxAgents', 'SKEIN_MAX_AGENTS', 'skein.maxAgents'],
    ['maxConcurrentAgents', 'SKEIN_MAX_CONCURRENT_AGENTS', 'skein.maxConcurrentAgents is 0'],
    ['maxDepth', 'SKEIN_MAX_DEPTH', 'skein.maxDepth'],
  ])('for %s makes Task refuse every agent', async (key, variable, sentence) => {
    const { code, stderr, bodies } = await runWith(key, variable, source);
    expect({ code, requests: bodies.length }).toEqual({ code: 0, requests: 2 });
    expect(JSON.stringify(resultsIn(bodies[1]))).toContain(sentence);
    expect(stderr).not.toContain('ignored');
  });

  test('for maxConcurrentRequests makes the run fail at its start', async () => {
    const { code, stdout, stderr, bodies } = await runWith(
      'maxConcurrentRequests' as const,
      'SKEIN_MAX_CONCURRENT_REQUESTS' as const,
      source,
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

import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtinTools } from '../../src/tools/builtin-tools.js';
import { toolbox } from '../../src/tools/toolbox.js';
import { setScene } from '../fakes/skein-process.js';

describe('the bundle', () => {
  test('is a program that a shell can start', () => {
    expect(readFileSync('dist/skein.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    accessSync('dist/skein.js', constants.X_OK);
  });

  test('shows a model the very tools that the sources describe', async () => {
    const { run } = await setScene();
    const { stdout } = await run(['prompt', '--json']);
    const { tools } = JSON.parse(stdout) as { tools: { text: string }[] };
    const described = toolbox(builtinTools).wireTools();
    expect(tools.map(({ text }) => text)).toEqual(described.map((tool) => JSON.stringify(tool)));
  });

  test('loads what reads HTML only when a page is read', () => {
    const files = readdirSync('dist', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => ({ name, text: readFileSync(join('dist', name), 'utf8') }));
    const [chunk, ...others] = files.filter(({ text }) =>
      text.includes('stateBeforeAttributeName'),
    );
    expect(others).toEqual([]);
    const named = (chunk?.name ?? '').replace('chunks/', '');
    const users = files.filter(({ text }) => text.includes(named));
    expect(users).toHaveLength(1);
    expect(users[0]?.text).toMatch(new RegExp(`import\\("\\./${named}"\\)`));
    expect(users[0]?.text).not.toMatch(new RegExp(`from ?"\\./${named}"`));
  });
});

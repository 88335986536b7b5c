import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, resultsIn, setScene } from '../../fakes/skein-process.js';

interface Call {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

const PDF = '%PDF-1.7\n1 0 obj\n<< /Type /Page >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF\n';
const NOTEBOOK = `{
 "cells": [
  {"cell_type": "markdown", "id": "one", "metadata": {}, "source": "# One"}
 ],
 "metadata": {"v": 1.0},
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

/** Messages of calls one after the other in print mode, and what came back for each call. */
const calls = async (
  turns: readonly (readonly Call[])[],
  flags: readonly string[] = [],
  env: Record<string, string> = {},
) => {
  const scene = await setScene([
    ...turns.map((tool_use, turn) => ({ match: { turn }, reply: { tool_use } })),
    { reply: 'Done.' },
  ]);
  const put = (name: string, text: string) => writeFile(join(scene.workspace, name), text);
  await mkdir(join(scene.workspace, 'src'));
  await Promise.all([
    put('src/a.ts', 'const apple = 1;\nconst pear = 2;\n'),
    put('.env', 'TOKEN=apple-secret\n'),
    put('key.pem', 'apple-secret\n'),
    put('paper.pdf', PDF),
    put('n.ipynb', NOTEBOOK),
  ]);
  const ended = await scene.run(['-p', 'go', '--output-format', 'json', ...flags], { env });
  expect(ended).toMatchObject({ code: 0, result: { result: 'Done.' } });
  return { ...scene, ...ended, results: resultsIn(scene.bodies().at(-1)) };
};

const grep = (input: object): Call => ({ name: 'Grep', input: { pattern: 'apple', ...input } });

describe('the file tools of the built program', () => {
  test.each([
    ['the ripgrep that npm brought', {}],
    ['no ripgrep at all', { SKEIN_RIPGREP: 'off' }],
    ['a ripgrep that is not there', { SKEIN_RIPGREP: '/no/such/rg' }],
  ])('search with %s, and say the same', async (_, env) => {
    const content = grep({ output_mode: 'content' });
    const { results } = await calls([[content, { name: 'LS', input: {} }]], [], env);
    expect(results.map((result: Line) => result.content)).toEqual([
      'src/a.ts:1:const apple = 1;\n\n[1 file left out: rules protect such files, and Read would ask first.]',
      expect.stringContaining('\n  n.ipynb ('),
    ]);
  });

  test('show nothing of secrets, whatever the glob', async () => {
    const { bodies, results } = await calls([
      [
        grep({ glob: '{.env,*.pem}', output_mode: 'content' }),
        { name: 'Glob', input: { pattern: '.env' } },
      ],
    ]);
    expect(JSON.stringify(bodies())).not.toContain('apple-secret');
    expect(results.map((result: Line) => result.content)).toEqual([
      expect.stringMatching(/^Nothing below .*\[2 files left out/s),
      expect.stringMatching(/^No file below .*\[1 file left out/s),
    ]);
  });

  test('may not look into the state of skein, not even when nothing needs permission', async () => {
    const path = '~/.skein';
    const asked = [
      grep({ path }),
      { name: 'Glob', input: { pattern: '*', path } },
      { name: 'LS', input: { path } },
    ];
    const bypass = ['--permission-mode', 'bypassPermissions'];
    const { result, results } = await calls([asked], bypass);
    expect(result.permission_denials).toHaveLength(3);
    expect(results.every((one: Line) => one.is_error === true)).toBe(true);
    const above = await calls(
      [[grep({ path: '~', pattern: 'session', glob: '.skein/**' })]],
      bypass,
    );
    const shown = String(above.results[0]?.content)
      .split('\n')
      .filter((line) => line.startsWith('/'));
    // Large outputs of its own session are the one thing that an agent may read there.
    expect(shown.filter((line) => !line.includes('/artifacts/'))).toEqual([]);
    expect(above.results[0]?.content).toContain('files left out');
  });

  test('carry a PDF to the model as a document, and again when the session goes on', async () => {
    const { results, run, bodies, result } = await calls([
      [{ name: 'Read', input: { file_path: 'paper.pdf' } }],
    ]);
    const data = Buffer.from(PDF).toString('base64');
    const source = { type: 'base64', media_type: 'application/pdf', data };
    expect(results).toMatchObject([{ content: [{ type: 'document', source }] }]);
    const resumed = await run([
      '-p',
      'more',
      '--resume',
      String(result.session_id),
      '--output-format',
      'json',
    ]);
    expect(resumed).toMatchObject({ code: 0 });
    expect(JSON.stringify(bodies().at(-1))).toContain(data);
  });

  test('change several passages and a cell, and keep the other bytes', async () => {
    const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });
    const edits = [
      { old_string: 'apple', new_string: 'plum' },
      { old_string: '2', new_string: '3' },
    ];
    const { workspace } = await calls(
      [
        [read('src/a.ts'), read('n.ipynb')],
        [
          { name: 'MultiEdit', input: { file_path: 'src/a.ts', edits } },
          {
            name: 'NotebookEdit',
            input: { notebook_path: 'n.ipynb', cell_id: 'one', new_source: '# Two' },
          },
        ],
      ],
      ['--permission-mode', 'acceptEdits'],
    );
    const text = (name: string) => readFile(join(workspace, name), 'utf8');
    expect(await text('src/a.ts')).toBe('const plum = 1;\nconst pear = 3;\n');
    expect(await text('n.ipynb')).toContain('"# Two"');
    expect(await text('n.ipynb')).toContain('{"v": 1.0}');
  });
});

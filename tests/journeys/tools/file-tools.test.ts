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

/** Runs turns of calls in print mode. Returns the results of the last turn. */
const runCalls = async (
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
    ['the ripgrep of the npm package', {}],
    ['ripgrep switched off', { SKEIN_RIPGREP: 'off' }],
    ['a missing ripgrep', { SKEIN_RIPGREP: '/no/such/rg' }],
  ])('return the same search results with %s', async (_, env) => {
    const content = grep({ output_mode: 'content' });
    const { results } = await runCalls([[content, { name: 'LS', input: {} }]], [], env);
    expect(results.map((result: Line) => result.content)).toEqual([
      'src/a.ts:1:const apple = 1;\n\n[1 file left out: rules protect such files, and Read would ask first.]',
      expect.stringContaining('\n  n.ipynb ('),
    ]);
  });

  test('do not show secret files, even if the glob names them', async () => {
    const { bodies, results } = await runCalls([
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

  test('cannot read the state of Skein, even in mode bypassPermissions', async () => {
    const path = '~/.skein';
    const asked = [
      grep({ path }),
      { name: 'Glob', input: { pattern: '*', path } },
      { name: 'LS', input: { path } },
    ];
    const bypass = ['--permission-mode', 'bypassPermissions'];
    const { result: run, results } = await runCalls([asked], bypass);
    expect(run.permission_denials).toHaveLength(3);
    expect(results.every((result: Line) => result.is_error === true)).toBe(true);
    const above = await runCalls(
      [[grep({ path: '~', pattern: 'session', glob: '.skein/**' })]],
      bypass,
    );
    const shown = String(above.results[0]?.content)
      .split('\n')
      .filter((line) => line.startsWith('/'));
    // An agent may read only the large outputs of its own session there.
    expect(shown.filter((line) => !line.includes('/artifacts/'))).toEqual([]);
    expect(above.results[0]?.content).toContain('files left out');
  });

  test('send a PDF to the model as a document, and again after a resume', async () => {
    const { results, run, bodies, result } = await runCalls([
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
    const { workspace } = await runCalls(
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

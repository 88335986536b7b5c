/** Scan for leaks: secrets pass through every tool and output format and must be redacted everywhere. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Rules, type Scene, setScene } from '../../fakes/skein-process.js';

// Assembled at run time, because a secret scanner would report literals in this file.
const body = (seed: string) => `${seed}B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7${seed}`;
const SECRETS: Readonly<Record<string, string>> = {
  anthropic: `sk-ant-api03-${body('a1')}`,
  openai: `sk-proj-${body('b1')}`,
  github: `ghp_${body('c1')}`,
  fine: `github_pat_${body('d1')}`,
  gitlab: `glpat-${body('e1')}`,
  slack: `xoxb-1-${body('f1')}`,
  google: `AIza${body('g1')}`,
  access: `ya29.${body('h1')}`,
  npm: `npm_${body('i1')}`,
  web: `eyJ${body('j1')}.eyJ${body('j2')}.${body('j3')}`,
  bearer: `Authorization: Bearer ${body('k1')}`,
  address: `postgres://ada:${body('l1')}@db/x`,
  password: `DB_PASSWORD=${body('m1')}`,
  aws: `aws_secret_access_key = ${body('n1')}`,
};
const KEY_LINES = [body('o1'), body('p1'), body('q1')];
const PEM = ['-----BEGIN RSA PRIVATE KEY-----', ...KEY_LINES, '-----END RSA PRIVATE KEY-----'];
const OWN_KEY = 'our own key has any shape 42';
/** The secret part of each text. No output or file may contain it. */
const NEEDLES = [...'abcdefghijklmnopq'.split('').map((letter) => body(`${letter}1`)), OWN_KEY];

const TEXT = [...Object.values(SECRETS), ...PEM, `own: ${OWN_KEY}`].join('\n');

/** All files except checkpoints, which must restore files byte for byte. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(join(folder, 'checkpoints')));

const leaks = (where: string, text: string) =>
  NEEDLES.filter((needle) => text.includes(needle)).map((needle) => `${where}: ${needle}`);

const calls = (web: string): readonly (readonly [string, Record<string, unknown>])[] => [
  ['Read', { file_path: 'notes.txt' }],
  ['Read', { file_path: 'notes.txt', offset: 17, limit: 1 }],
  ['Grep', { pattern: '.', output_mode: 'content', path: 'notes.txt' }],
  ['Grep', { pattern: 'PRIVATE', output_mode: 'content', '-A': 3 }],
  ['Read', { file_path: 'count.ipynb' }],
  ['Bash', { command: 'cat notes.txt; cat notes.txt >&2' }],
  ['Bash', { command: 'for i in $(seq 60); do cat notes.txt; done' }],
  ['Bash', { command: 'cat nowhere-$(tail -1 notes.txt)' }],
  ['Bash', { command: 'cat notes.txt', run_in_background: true }],
  ['TaskOutput', { task_id: 'bash_1', block: true }],
  ['WebFetch', { url: `${web}/secrets`, prompt: '' }],
  ['Read', { file_path: 'nowhere.txt' }],
];

const script = (all: ReturnType<typeof calls>): Rules => [
  ...all.map(([name, input], turn) => ({
    match: { turn },
    reply: { tool_use: [{ name, input }] },
  })),
  { reply: 'Done.' },
];

const serve = async (page: string): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const writeFiles = (scene: Scene) => {
  mkdirSync(scene.workspace, { recursive: true });
  writeFileSync(join(scene.workspace, 'notes.txt'), TEXT);
  const cell = { cell_type: 'code', id: 'c', metadata: {}, outputs: [], source: TEXT };
  writeFileSync(
    join(scene.workspace, 'count.ipynb'),
    JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }),
  );
};

test.each(['text', 'json', 'stream-json'])(
  'secrets in tool results appear in no output, request or file with --output-format %s',
  async (format) => {
    const all = calls(await serve(`<p>${TEXT.replaceAll('\n', '<br>')}`));
    const scene = await setScene(script(all));
    writeFiles(scene);
    const run = await scene.run(
      [
        '-p',
        'look',
        '--output-format',
        format,
        '--verbose',
        '--permission-mode',
        'bypassPermissions',
      ],
      {
        env: {
          ANTHROPIC_API_KEY: OWN_KEY,
          IS_SANDBOX: '1',
          SKEIN_ALLOW_PRIVATE_ADDRESSES: '127.0.0.1',
        },
      },
    );
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const sent = scene.bodies().at(-1);
    expect(JSON.stringify(sent).match(/tool_result/g)?.length).toBe(all.length);
    expect(JSON.stringify(sent)).toContain('[redacted]');
    expect([
      ...leaks('stdout', run.stdout),
      ...leaks('stderr', run.stderr),
      ...scene.bodies().flatMap((sentBody) => leaks('request', JSON.stringify(sentBody))),
      ...filesBelow(scene.skeinHome).flatMap((file) => leaks(file, readFileSync(file, 'latin1'))),
    ]).toEqual([]);
  },
  60_000,
);

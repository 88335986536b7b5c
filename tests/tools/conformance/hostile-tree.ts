/**
 * Creates a workspace with files that are difficult for file tools, and a secret file beside it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const NOTES = 'alpha\nbeta\ngamma\n';
export const NOTEBOOK = `${JSON.stringify({
  cells: [
    { cell_type: 'markdown', id: 'm1', metadata: {}, source: ['# Title\n'] },
    {
      cell_type: 'code',
      id: 'c1',
      metadata: {},
      execution_count: 1,
      outputs: [{ output_type: 'stream', name: 'stdout', text: ['2\n'] }],
      source: ['print(1 + 1)\n'],
    },
  ],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
})}\n`;

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Names that a shell, a terminal or a line-based list could misread. */
export const ODD_NAMES = [
  '-dash.txt',
  '--help',
  'two\nlines.txt',
  'quote"\'.txt',
  '$(touch pwned);`touch pwned`.txt',
  '*.txt',
  'space and tab\t.txt',
  'ü漢😀.txt',
  '\u001b[31mred.txt',
] as const;

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  'notes.txt': NOTES,
  'empty.txt': '',
  'crlf.txt': '\ufeffone\r\ntwo\r\n',
  'latin1.txt': Buffer.from([0x67, 0x72, 0xfc, 0xdf, 0x65, 0x0a]),
  'binary.bin': Buffer.from([0, 1, 2, 3, 255, 254, 0, 10]),
  'picture.png': PICTURE,
  'cut.png': PICTURE.subarray(0, 20),
  'one-line.txt': `${'x'.repeat(2_000_000)} the end`,
  'many-lines.txt': 'line\n'.repeat(100_000),
  'explode.txt': `${'a'.repeat(50_000)}!\n`,
  'read-only.txt': 'do not touch\n',
  'notebook.ipynb': NOTEBOOK,
  'broken.ipynb': '{"cells": [',
  'strange.ipynb': '{"cells": [{"cell_type": 7, "source": {"a": 1}}, null], "nbformat": "four"}',
  'broken.pdf': '%PDF-1.7\nnothing of a PDF follows\n',
  'folder/inner.txt': 'inner\n',
  '.gitignore': 'ignored/\n',
  'ignored/away.txt': 'alpha\n',
};

export interface HostileTree {
  /** The workspace. */
  readonly cwd: string;
  close(): Promise<void>;
}

/** `root` is an empty directory. The workspace and the outside folder are created in it. */
export const createHostileTree = async (root: string): Promise<HostileTree> => {
  const cwd = join(root, 'workspace');
  const at = (name: string) => join(cwd, name);
  for (const folder of ['folder', 'ignored', 'bare', 'deep/a/a/a/a/a/a/a/a/a/a']) {
    mkdirSync(at(folder), { recursive: true });
  }
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside/secret.txt'), 'secret\n');
  for (const [name, content] of Object.entries(FILES)) writeFileSync(at(name), content);
  for (const name of ODD_NAMES) writeFileSync(at(name), `odd: ${JSON.stringify(name)}\n`);
  chmodSync(at('read-only.txt'), 0o444);
  writeFileSync(at('sparse.bin'), '');
  truncateSync(at('sparse.bin'), 100 * 1024 * 1024);
  linkSync(sharedPipe(), at('pipe'));
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, at(name));
  const socket = await listenAt(at('socket'));
  return { cwd, close: () => new Promise((resolve) => socket.close(() => resolve())) };
};

let pipe: string | undefined;

/** Node cannot create pipes, and mkfifo for each tree would be slow, so all trees share a pipe. */
const sharedPipe = (): string => {
  if (pipe === undefined) {
    pipe = join(mkdtempSync(join(tmpdir(), 'pipe-')), 'pipe');
    execFileSync('mkfifo', [pipe]);
  }
  return pipe;
};

const LINKS = {
  'link-out': '../outside/secret.txt',
  'folder-out': '../outside',
  'link-in': 'notes.txt',
  dangling: 'nowhere',
  loop: 'loop',
  zero: '/dev/zero',
} as const;

const listenAt = (path: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(path, () => resolve(server));
  });

/** Digest of all attributes and contents of a tree, except access times. */
export const digestOfTree = (root: string): string => {
  const hash = createHash('sha256');
  const visit = (path: string) => {
    const stat = lstatSync(path, { bigint: true });
    const { mode, size, mtimeNs, ctimeNs, ino } = stat;
    // Every tree adds a link to the shared pipe, which changes its times.
    const times = stat.isFIFO() ? [] : [mtimeNs, ctimeNs];
    hash.update(JSON.stringify([path, ...[mode, size, ino, ...times].map(String)]));
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile() && size < 1_000_000n) hash.update(readFileSync(path));
  };
  visit(root);
  return hash.digest('hex');
};

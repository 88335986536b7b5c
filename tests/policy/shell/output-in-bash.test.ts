/** Proves with a real bash that every generated command line runs its command. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quote } from './evaluation-classes.js';
import { printed, spelled } from './output-classes.js';

test('a real bash runs what a command line prints or spells', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'output-'));
  const lines = [...printed('touch ran'), ...spelled('touch ran')];
  const script = lines.map((line, index) => {
    const inner = join(folder, String(index));
    mkdirSync(inner);
    return `cd ${inner}; /bin/bash --norc -c ${quote(line)} < /dev/null > /dev/null 2>&1`;
  });
  spawnSync('/bin/bash', ['--norc', '-c', script.join('\n')], {
    env: { PATH: '/bin:/usr/bin', HOME: folder },
  });
  // A process substitution may end after its shell.
  await expect
    .poll(() => lines.filter((_, index) => !existsSync(join(folder, String(index), 'ran'))), {
      timeout: 5_000,
    })
    .toEqual([]);
}, 60_000);

/** Proves with a real bash that every class of evaluation runs code. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  CLASSES,
  type EvaluationClass,
  KNOWN_WAYS,
  quote,
  UNKNOWN_WAYS,
  valueRunning,
} from './evaluation-classes.js';

const everyClass = () =>
  CLASSES.map(({ kind, body }) => ({
    kind,
    line: KNOWN_WAYS.literal(valueRunning(kind, 'touch ran'), body),
  }));
const everyWay = (kind: EvaluationClass['kind'], body: string) => [
  ...Object.values(KNOWN_WAYS).map((spell) => ({
    kind,
    line: spell(valueRunning(kind, 'touch ran'), body),
  })),
  ...Object.values(UNKNOWN_WAYS).map((spell) => ({ kind, line: spell(body) })),
];

describe('a real bash', () => {
  test('runs the code of the value in every class, and gets the value in every way', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'evaluation-'));
    const cases = [
      ...everyClass(),
      ...everyWay('subscript', 'echo $((x))'),
      ...everyWay('source', 'eval "$x"'),
    ];
    const script = cases.map(({ kind, line }, index) => {
      const inner = join(folder, String(index));
      mkdirSync(inner);
      writeFileSync(join(inner, 'value'), `${valueRunning(kind, 'touch ran')}\n`);
      return `cd ${inner}; /bin/bash --norc -c ${quote(line)} < /dev/null > /dev/null 2>&1`;
    });
    spawnSync('/bin/bash', ['--norc', '-c', script.join('\n')], {
      env: { PATH: '/bin:/usr/bin', HOME: folder },
    });
    // A process substitution may end after its shell.
    await expect
      .poll(
        () =>
          cases
            .filter((_, index) => !existsSync(join(folder, String(index), 'ran')))
            .map(({ line }) => line),
        { timeout: 5_000 },
      )
      .toEqual([]);
  }, 60_000);
});

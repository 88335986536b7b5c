/** The state charts in docs/architecture.md are generated from the machines, so the page is always current. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'skein-charts-'));
const page = readFileSync('docs/architecture.md', 'utf8');

const runScript = (...args: readonly string[]) => {
  const command = ['--import', 'tsx', 'scripts/state-charts.mjs', ...args];
  return spawnSync(process.execPath, command, { encoding: 'utf8' });
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the state charts in docs/architecture.md', () => {
  test('match the machines (run npm run charts)', () => {
    const { status, stderr } = runScript('--check');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('fail the check if an arrow differs, and are restored by the script', () => {
    const copy = join(folder, 'page.md');
    const changed = page.replace('retrying --> streaming: pause.over', 'retrying --> stopped');
    expect(changed).not.toBe(page);
    writeFileSync(copy, changed);
    expect(runScript('--check', copy)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/differ from src\/machines: run npm run charts/),
    });
    expect(readFileSync(copy, 'utf8')).toBe(changed);
    expect(runScript(copy).status).toBe(0);
    expect(readFileSync(copy, 'utf8')).toBe(page);
  });

  test('need a section for each machine', () => {
    const copy = join(folder, 'empty.md');
    writeFileSync(copy, '# A page without charts\n');
    expect(runScript('--check', copy)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/has no section for the state chart "agent"/),
    });
  });
});

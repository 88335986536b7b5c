import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { UsageError } from '../../../src/protocol/skein-error.js';

const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-root-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

describe('the workspace folder', () => {
  test('is rejected with a message if it is missing or not accessible', () => {
    const folder = temporaryFolder();
    const loop = join(folder, 'loop');
    symlinkSync(loop, loop);
    expect(findWorkspace(folder, '/home/nobody').root).toBe(folder);
    for (const place of [join(folder, 'missing'), loop, join(folder, 'x'.repeat(300))]) {
      expect(() => findWorkspace(place, '/home/nobody')).toThrow(UsageError);
    }
    expect(() => findWorkspace(loop, '/home/nobody')).toThrow(/Cannot access .*\(ELOOP\); start/);
  });
});

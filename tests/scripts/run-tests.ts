/** Runs vitest in a separate project, for tests of the setup and of the reporter. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Runs a single test file in a separate project. Its PATH has a shell, git and `commands` (shell scripts by name), but
 * no tmux and no Redis.
 */
export const runTests = (
  body: string,
  commands: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string>> = {},
) => {
  const root = mkdtempSync(join(tmpdir(), 'project-'));
  const bin = join(root, 'bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries({ git: '', ...commands })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  const quotedPath = (file: string) => JSON.stringify(resolve('tests', file));
  const config = `export default { test: {
    globalSetup: [${quotedPath('setup/machine.ts')}],
    setupFiles: [${quotedPath('setup/own-home.ts')}],
    reporters: [${quotedPath('setup/reporter.ts')}],
  } };`;
  writeFileSync(join(root, 'vitest.config.mjs'), config);
  const imports = `import { expect, test } from 'vitest'; import { needs } from ${quotedPath('setup/needs.ts')};`;
  writeFileSync(join(root, 'one.test.ts'), `${imports}\n${body}`);
  return new Promise<{ lines: string[]; code: number | null }>((done) => {
    const vitest = execFile(
      process.execPath,
      [resolve('node_modules/vitest/vitest.mjs'), 'run', '--root', root],
      { cwd: root, env: { ...process.env, ...environment, PATH: bin, NO_COLOR: '1' } },
      (_, stdout) => done({ lines: stdout.trimEnd().split('\n'), code: vitest.exitCode }),
    );
  });
};

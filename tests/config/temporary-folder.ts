/** Temporary home and workspace for configuration tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type LoadedSettings,
  loadSettings,
  type SettingsSources,
} from '../../src/config/settings/load-settings.js';

export interface TemporaryFolder {
  readonly path: string;
  readonly home: string;
  readonly repo: string;
  /** Writes text, or a value as JSON, to a file below the folder. Returns its path. */
  put(name: string, content: unknown): string;
  load(options?: Partial<SettingsSources>): LoadedSettings;
}

export const temporaryFolder = (): TemporaryFolder => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'skein-config-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const home = join(path, 'home');
  const repo = join(path, 'repo');
  mkdirSync(home);
  mkdirSync(repo);
  return {
    path,
    home,
    repo,
    put(name, content) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
      return file;
    },
    load: (options = {}) =>
      loadSettings({
        env: {},
        home,
        cwd: repo,
        platform: 'linux',
        managedFiles: [join(path, 'managed.json')],
        ...options,
      }),
  };
};

/** Simulated second machine for a process: own host name, own home and own key. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openPersonKey } from '../../src/store/files/person-key.js';
import type { WorkerScene } from './agents/worker-scene.js';
import type { RunOptions } from './skein-process.js';

export interface OtherMachine extends RunOptions {
  readonly env: Record<string, string>;
  readonly skeinHome: string;
}

/** The machine trusts the key of the person at the first machine. */
export const otherMachine = async (
  { root, skeinHome: first }: Pick<WorkerScene, 'root' | 'skeinHome'>,
  host: string,
  more: Readonly<Record<string, string>> = {},
): Promise<OtherMachine> => {
  const home = join(root, host);
  const skeinHome = join(home, '.skein');
  await mkdir(home, { recursive: true });
  const { publicKey } = openPersonKey(join(first, 'keys'));
  return {
    skeinHome,
    cwd: home,
    env: { HOME: home, SKEIN_HOME: skeinHome, SKEIN_PERSON_KEYS: publicKey, ...more },
    through: ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', host],
  };
};

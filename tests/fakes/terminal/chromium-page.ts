/** Page as headless Chromium shows it, with its own profile. */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export interface ShownPage {
  /** The document after its scripts have run. */
  readonly dom: string;
  /** Console output, with errors and refused requests. */
  readonly console: readonly string[];
}

/** `folder` receives the files of the browser, and is removed with the test. */
export const showPage = async (file: string, folder: string): Promise<ShownPage> => {
  const profile = await mkdtemp(join(folder, 'chromium-'));
  const args = [
    // Tests may run as root in a container, where the sandbox of Chromium does not work.
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-extensions',
    '--enable-logging=stderr',
    '--v=0',
    `--user-data-dir=${profile}`,
    '--dump-dom',
    pathToFileURL(file).href,
  ];
  const { stdout, stderr } = await promisify(execFile)('chromium', args, {
    maxBuffer: 100_000_000,
    timeout: 60_000,
    env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' },
  });
  return { dom: stdout, console: stderr.split('\n').filter((line) => /CONSOLE/.test(line)) };
};

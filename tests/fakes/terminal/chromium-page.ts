/** A page as Chromium shows it: started without a window, with a profile of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export interface ShownPage {
  /** The document after its scripts have run. */
  readonly dom: string;
  /** What was written to the console, errors and refusals among it. */
  readonly console: readonly string[];
}

/** `folder` holds what the browser writes, and goes with the test. */
export const showPage = async (file: string, folder: string): Promise<ShownPage> => {
  const profile = await mkdtemp(join(folder, 'chromium-'));
  const args = [
    // Tests may run as root in a container, where its sandbox cannot be had.
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

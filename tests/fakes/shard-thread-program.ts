/** Bundles the program of the threads that scan a workspace from its sources, so that tests need no build. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Returns the path of the program, and a function that removes it. */
export const shardThreadProgram = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'shard-thread-'));
  const path = join(folder, 'shard-thread.cjs');
  await build({
    entryPoints: ['src/actors/checkpoints/shard-thread.ts'],
    outfile: path,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
};

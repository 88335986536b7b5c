/** Watches the doors to the outside world, and notes who of ours goes through them. */
import child from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

type Door = Record<string, unknown>;

const DOORS: readonly [Door, readonly string[]][] = [
  [fs, ['openSync', 'writeSync', 'writeFileSync', 'appendFileSync', 'renameSync', 'rmSync']],
  [fs, ['readFileSync', 'readSync', 'open', 'readFile', 'writeFile', 'mkdirSync', 'mkdtempSync']],
  [fs.promises as unknown as Door, ['open', 'readFile', 'writeFile', 'rename', 'mkdir', 'rm']],
  [net, ['connect', 'createConnection', 'createServer']],
  [child, ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'exec', 'fork']],
];

/** Runs `work` and returns each effect that came from a file under `src/`. */
export const effectsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const seen: string[] = [];
  const undo = DOORS.flatMap(([door, names]) => names.map((name) => watch(door, name, seen)));
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const restore of undo) restore();
    syncBuiltinESMExports();
  }
  return seen;
};

const watch = (door: Door, name: string, seen: string[]): (() => void) => {
  const real = door[name] as (...args: unknown[]) => unknown;
  door[name] = function watched(this: unknown, ...args: unknown[]) {
    const ours = new Error().stack?.split('\n').find((line) => /\/src\/\w+\//.test(line));
    if (ours !== undefined) seen.push(`${name} by ${/\/src\/(\S+?):/.exec(ours)?.[1] ?? ours}`);
    return real.apply(this, args);
  };
  return () => {
    door[name] = real;
  };
};

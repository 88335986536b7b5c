/** Watches functions of Node with outside effects, and records the source files that call them. */
import child from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

type Functions = Record<string, unknown>;

const EFFECTS: readonly [Functions, readonly string[]][] = [
  [fs, ['openSync', 'writeSync', 'writeFileSync', 'appendFileSync', 'renameSync', 'rmSync']],
  [fs, ['readFileSync', 'readSync', 'open', 'readFile', 'writeFile', 'mkdirSync', 'mkdtempSync']],
  [fs.promises as unknown as Functions, ['open', 'readFile', 'writeFile', 'rename', 'mkdir', 'rm']],
  [net, ['connect', 'createConnection', 'createServer']],
  [child, ['spawn', 'spawnSync', 'execFile', 'execFileSync', 'exec', 'fork']],
];

/** Runs `work` and returns each effect that a file under `src/` caused. */
export const effectsOf = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const seen: string[] = [];
  const undo = EFFECTS.flatMap(([functions, names]) =>
    names.map((name) => watch(functions, name, seen)),
  );
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const restore of undo) restore();
    syncBuiltinESMExports();
  }
  return seen;
};

const watch = (functions: Functions, name: string, seen: string[]): (() => void) => {
  const real = functions[name] as (...args: unknown[]) => unknown;
  functions[name] = function watched(this: unknown, ...args: unknown[]) {
    const ours = new Error().stack?.split('\n').find((line) => /\/src\/\w+\//.test(line));
    if (ours !== undefined) seen.push(`${name} by ${/\/src\/(\S+?):/.exec(ours)?.[1] ?? ours}`);
    return real.apply(this, args);
  };
  return () => {
    functions[name] = real;
  };
};

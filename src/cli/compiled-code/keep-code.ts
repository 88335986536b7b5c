/**
 * Keeps the code that V8 compiled in this run for later starts, if the build has no code for this version of Node.
 *
 * The code is written while the second answer of a model is awaited, when it contains a whole turn, or at the end of a
 * short run. A process that is killed meanwhile leaves a temporary file, which a later process removes.
 */
import { subscribe } from 'node:diagnostics_channel';
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Script } from 'node:vm';
import { headerOf, isPrivateFolder, type KeptCode } from './kept-code.js';
import { MODEL_REQUEST } from './model-request.js';

interface CodeToKeep {
  readonly script: Script;
  readonly programSum: number;
  readonly kept: KeptCode;
}

/** Time after which V8 may have dropped the code of the start. */
const MAX_AGE_MS = 60_000;
/** Time for a request to leave. */
const DELAY_MS = 50;
/** Maximum number of files, for programs, versions of Node and flags. */
const MAX_FILES = 4;
/** Age of a temporary file whose process has ended. */
const STALE_MS = 3_600_000;

/** Writes the code once, later. Never throws; without a file, the next run tries again. */
export const keepCode = (code: CodeToKeep): void => {
  if (isMeasured()) return;
  let isDone = false;
  const keep = () => {
    if (isDone) return;
    isDone = true;
    try {
      writeCode(code);
    } catch {
      // The folder cannot be written, or the disk is full.
    }
  };
  let requests = 0;
  subscribe(MODEL_REQUEST, () => {
    requests += 1;
    if (requests === 2) setTimeout(keep, DELAY_MS).unref();
    if (requests > 1) return;
    const began = performance.now();
    process.once('exit', (exitCode) => {
      if (exitCode === 0 && performance.now() - began < MAX_AGE_MS) keep();
    });
  });
};

/** True if a debugger or a profiler may have changed the code. */
const isMeasured = (): boolean => {
  const { env, execArgv } = process;
  if (env.NODE_V8_COVERAGE !== undefined) return true;
  return [env.NODE_OPTIONS ?? '', ...execArgv].some((text) => /--(?:inspect|\S*prof)/.test(text));
};

const writeCode = ({ script, programSum, kept }: CodeToKeep): void => {
  const { skeinHome, folder, file } = kept;
  // A run without a state directory, or with the directory of another user, leaves no files.
  if (lstatSync(skeinHome).uid !== process.geteuid?.()) return;
  for (const path of [dirname(folder), folder]) makeFolder(path);
  if (!isPrivateFolder(folder)) return;
  const code = script.createCachedData();
  const temporary = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`;
  try {
    const handle = openSync(temporary, 'wx', 0o600);
    try {
      const bytes = Buffer.concat([Buffer.from(headerOf(programSum, code)), code]);
      for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at, bytes.length - at);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  removeOld(folder, basename(file));
};

const makeFolder = (path: string): void => {
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

/** Removes the oldest files, and temporary files of killed processes. */
const removeOld = (folder: string, newest: string): void => {
  const files = readdirSync(folder)
    .map((name) => ({ name, time: statSync(join(folder, name)).mtimeMs }))
    .sort((one, other) => other.time - one.time);
  const others = files.filter(({ name }) => name.endsWith('.cache') && name !== newest);
  const stale = files.filter(
    ({ name, time }) => name.endsWith('.tmp') && Date.now() - time > STALE_MS,
  );
  for (const { name } of [...others.slice(MAX_FILES - 1), ...stale]) {
    rmSync(join(folder, name), { force: true });
  }
};

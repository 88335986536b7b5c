/** A program whose agents run in their own processes. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type OpenSession,
  openSessionWith,
  type QueryFunction,
  queryWith,
} from '../../../src/sdk/api/query.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import type { Rules } from '../../fakes/skein-process.js';
import { PROGRAMS, type Program, program } from './program.js';

export interface SubprocessProgram extends Program {
  readonly query: QueryFunction;
  readonly openSession: OpenSession;
  /** Processes that were started, oldest first. */
  processes(): readonly number[];
}

/** `skein` is the program that is started instead of the command line. */
export const subprocessProgram = async (
  rules?: Rules,
  skein = PROGRAMS.skein,
): Promise<SubprocessProgram> => {
  const scene = await program(rules);
  const file = join(scene.root, 'processes');
  const recordPid = ['/bin/sh', '-c', 'echo $$ >> "$0"; exec "$@"', file];
  const programs = { ...PROGRAMS, skein: [...recordPid, ...skein] };
  const query = queryWith(programs);
  const options: QueryOptions = { ...scene.options, subprocess: true };
  return {
    ...scene,
    query,
    options,
    openSession: openSessionWith(programs),
    ask: (prompt, more = {}) => query({ prompt, options: { ...options, ...more } }),
    processes: () =>
      existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [],
  };
};

/** Main program: measures Skein and a bare loop on the SDK in the same run, with the same server. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openArena } from './arena.js';
import { bashCalls } from './bash-rows.js';
import { type Bench, benchOf } from './bench.js';
import { billed } from './billed-rows.js';
import { calibrate } from './calibrate.js';
import { deltas } from './delta-rows.js';
import { jobs, letters, queuedAgents } from './queue-rows.js';
import { asJson, asTable } from './report.js';
import { judge, type Row } from './row.js';
import { coldStart, idleMemory } from './start-rows.js';
import { fanOut, swarmDeltas } from './swarm-rows.js';
import { watching } from './top-rows.js';
import { longRun, toolLoop } from './turn-rows.js';

const MEASURES: Readonly<Record<string, (bench: Bench) => Promise<readonly Row[]>>> = {
  start: coldStart,
  bash: bashCalls,
  turn: toolLoop,
  delta: deltas,
  long: longRun,
  memory: idleMemory,
  'fan-out': fanOut,
  'swarm-deltas': swarmDeltas,
  billed,
  queue: queuedAgents,
  jobs,
  letters,
  top: watching,
};

const USAGE = `npm run bench -- [options]
  --rows a,b   only these: ${Object.keys(MEASURES).join(', ')}
  --quick      a smoke run: one round of most, whose figures mean little
  --brief      the same, with more starts: the report of .ci/run, in a minute with --rows start,bash
  --json       the figures, run by run, as JSON
  --check      exit with 1 when a target is missed`;

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string' },
    quick: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const run = async (): Promise<number> => {
  const names = flags.rows?.split(',') ?? Object.keys(MEASURES);
  const unknown = names.filter((name) => MEASURES[name] === undefined);
  if (flags.help || unknown.length > 0) {
    if (unknown.length > 0) process.stderr.write(`There is no row ${unknown.join(', ')}.\n`);
    process.stdout.write(`${USAGE}\n`);
    return unknown.length > 0 ? 2 : 0;
  }
  const arena = openArena(join(import.meta.dirname, '../dist'));
  process.once('SIGINT', () => {
    arena.close();
    process.exit(130);
  });
  try {
    const { contenders, sizes } = await calibrate(arena);
    const bench = benchOf(arena, contenders, flags);
    const rows: Row[] = [];
    for (const name of names) {
      process.stderr.write(`measuring ${name} …\n`);
      rows.push(...((await MEASURES[name]?.(bench)) ?? []));
    }
    process.stdout.write(`${flags.json ? asJson(rows, sizes) : asTable(rows, sizes)}\n`);
    return flags.check && rows.some((row) => judge(row).verdict === 'MISS') ? 1 : 0;
  } finally {
    arena.close();
  }
};

process.exitCode = await run();

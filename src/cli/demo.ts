/** `skein demo`: a real run, with real tools and real files, against the built-in simulator. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LeadSession } from '../actors/session.js';
import { PRICES_VERSION, uncachedCostOf } from '../protocol/prices.js';
import { type OpenRun, openRun } from '../sdk/open-run.js';
import { promptBlocks } from '../sdk/prompt-blocks.js';
import { RunTally } from '../sdk/run-tally.js';
import { startSimulator } from '../simulator/server.js';
import { DemoNarration } from './demo-narration.js';
import { type DemoRepository, makeDemoRepository } from './demo-repository.js';
import { DEMO_TASK, demoScript } from './demo-script.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { count } from './figures.js';
import type { Machine } from './machine.js';

export const demo = async (machine: Machine, json: boolean): Promise<number> => {
  const repository = await makeDemoRepository();
  const remove = () => rmSync(repository.folder, { recursive: true, force: true });
  // A second Ctrl-C ends the process on the spot.
  process.once('exit', remove);
  let onInterrupt = () => {};
  const stopListening = machine.onInterrupt(() => onInterrupt());
  const simulator = await startSimulator({ script: demoScript() });
  const say = json ? () => undefined : machine.out;
  try {
    say(introduction(repository));
    const run = await openDemoRun(machine, repository, simulator.url);
    const { session } = run;
    const tally = new RunTally();
    onInterrupt = () => session.interrupt();
    const narration = new DemoNarration();
    let calls = 0;
    for await (const item of session.run(promptBlocks(DEMO_TASK))) {
      tally.take(item);
      if (item.type === 'tool.started') calls += 1;
      say(narration.tell(item));
    }
    const figures = await figuresOf(session, tally, calls, repository);
    await run.close();
    machine.out(json ? `${JSON.stringify(figures, null, 2)}\n` : conclusion(figures));
    if (tally.stop?.reason !== 'end_turn') return exitCodeOf(tally.stop?.reason ?? 'model_error');
    return figures.testsPass ? EXIT.done : EXIT.failed;
  } finally {
    await simulator.close();
    remove();
    process.off('exit', remove);
    stopListening();
  }
};

/** Nothing of the user's is read or written: home and state are in the throw-away folder too. */
const openDemoRun = (
  machine: Machine,
  { folder, path }: DemoRepository,
  baseUrl: string,
): Promise<OpenRun> => {
  const { PATH, LANG, TMPDIR } = machine.env;
  return openRun({
    machine: {
      ...machine,
      home: folder,
      cwd: path,
      env: { PATH, LANG, TMPDIR, HOME: folder, SKEIN_HOME: join(folder, 'state') },
    },
    flags: {
      ...{ outputFormat: 'text', inputFormat: 'text', sessionPersistence: true },
      ...{ permissionMode: 'acceptEdits', allowedTools: ['Bash(node --test)'] },
    },
    ...{ title: DEMO_TASK, surfaces: {}, lingers: false, wantsStreamEvents: true },
    provider: { baseUrl, apiKey: 'simulated', authToken: undefined },
  });
};

const introduction = ({ path, hasGit }: DemoRepository): string =>
  [
    'skein demo: one agent mends a failing test. The model is simulated; everything else is real.',
    `  repository   ${path}${hasGit ? '' : ' (git is not installed, so without history)'}`,
    '  permissions  edits are accepted, and "node --test" is allowed; anything else would be denied',
    `  task         ${DEMO_TASK}`,
    '',
    '',
  ].join('\n');

interface Figures {
  readonly testsPass: boolean;
  readonly stopReason: string;
  readonly turns: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  readonly uncachedCostUsd: number | null;
  readonly savedShare: number | null;
  readonly diff: string;
}

const figuresOf = async (
  session: LeadSession,
  tally: RunTally,
  calls: number,
  repository: DemoRepository,
): Promise<Figures> => {
  const { usage, cost, byModel } = session.spent;
  const uncached = [...byModel].map(([model, spent]) => uncachedCostOf(model, spent.usage));
  const uncachedCostUsd = uncached.reduce<number | null>(
    (sum, one) => (sum === null || one === undefined ? null : sum + one),
    0,
  );
  return {
    testsPass: await repository.testsPass(),
    stopReason: tally.stop?.reason ?? 'none',
    turns: tally.turns,
    calls,
    inputTokens: usage.input,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite5m + usage.cacheWrite1h,
    outputTokens: usage.output,
    costUsd: cost,
    uncachedCostUsd,
    savedShare: cost === null || !uncachedCostUsd ? null : 1 - cost / uncachedCostUsd,
    diff: await repository.diff(),
  };
};

const conclusion = (figures: Figures): string => {
  const { testsPass, turns, calls, costUsd, uncachedCostUsd, savedShare, diff } = figures;
  const money = (usd: number | null) => (usd === null ? 'unknown' : `$${usd.toFixed(4)}`);
  const share = savedShare === null ? 'unknown' : `${Math.round(savedShare * 100)} %`;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = figures;
  return [
    ...diff
      .split('\n')
      .filter((line) => /^[+-]{1,3}/.test(line))
      .map((line) => `    ${line}`),
    '',
    `  tests   ${testsPass ? 'pass' : 'FAIL'}, checked once more from outside`,
    `  work    ${turns} turns, ${calls} tool calls`,
    `  tokens  ${count(inputTokens)} new, ${count(cacheWriteTokens)} written to the cache, ${count(cacheReadTokens)} read from it, ${count(outputTokens)} out`,
    `  cost    ${money(costUsd)} at the list prices of ${PRICES_VERSION}; without the cache ${money(uncachedCostUsd)}: ${share} saved`,
    '',
  ].join('\n');
};

/** `skein demo`: a real swarm, with real tools and real files, against the built-in simulator. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PermissionQuestion, Surface } from '../protocol/permission.js';
import { costOfSession } from '../sdk/cost-ledger.js';
import { type OpenRun, openRun } from '../sdk/open-run.js';
import { promptBlocks } from '../sdk/prompt-blocks.js';
import { startSimulator } from '../simulator/server.js';
import { chartStyle } from './bar-chart.js';
import { conclusion, DemoTally } from './demo-figures.js';
import { DemoNarration } from './demo-narration.js';
import { type DemoRepository, makeDemoRepository } from './demo-repository.js';
import { DEMO_COMMAND, DEMO_TASK, demoScript } from './demo-script.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { wrapped } from './figures.js';
import type { Machine } from './machine.js';

/** So that a person can read a question before it is answered. */
const READING_MS = 600;

export const demo = async (machine: Machine, json: boolean): Promise<number> => {
  const repository = await makeDemoRepository();
  const remove = () => rmSync(repository.folder, { recursive: true, force: true });
  // A second Ctrl-C ends the process on the spot.
  process.once('exit', remove);
  let onInterrupt = () => {};
  const stopListening = machine.onInterrupt(() => onInterrupt());
  const simulator = await startSimulator({ script: demoScript() });
  const style = chartStyle(machine);
  const say = json ? () => undefined : machine.out;
  const narration = new DemoNarration(style, say);
  try {
    say(introduction(repository, style.width));
    const run = await openDemoRun(machine, repository, simulator.url, answering(narration));
    const { session, store } = run;
    const tally = new DemoTally();
    onInterrupt = () => session.interrupt();
    session.listen((item) => {
      tally.take(item);
      narration.tell(item);
    });
    session.submit(promptBlocks(DEMO_TASK));
    session.start();
    const { stop } = await session.stopped;
    await run.close();
    const costs = await costOfSession(store, session.id);
    const figures = await tally.figures(costs, repository);
    const text = json ? `${JSON.stringify(figures, null, 2)}\n` : conclusion(figures, costs, style);
    machine.out(text);
    if (stop.reason !== 'end_turn') return exitCodeOf(stop.reason);
    return figures.testsPass ? EXIT.done : EXIT.failed;
  } finally {
    await simulator.close();
    remove();
    process.off('exit', remove);
    stopListening();
  }
};

/** In place of a person: yes to the one command that the story needs, and no to all else. */
const answering = (narration: DemoNarration): Surface => ({
  async ask(question, signal) {
    narration.ask(question);
    await pause(READING_MS, undefined, { signal });
    const isExpected = commandOf(question) === DEMO_COMMAND;
    narration.answer(
      question,
      isExpected ? 'Yes, once, says the demo in your place.' : 'No, says the demo.',
    );
    return isExpected
      ? { behavior: 'allow', scope: 'once' }
      : { behavior: 'deny', reason: `The demo allows nothing but "${DEMO_COMMAND}".` };
  },
});

const commandOf = ({ tool, input }: PermissionQuestion): unknown =>
  tool === 'Bash' ? (input as { command?: unknown }).command : undefined;

/** Nothing of the user's is read or written: home and state are in the throw-away folder too. */
const openDemoRun = (
  machine: Machine,
  { folder, path }: DemoRepository,
  baseUrl: string,
  surface: Surface,
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
      permissionMode: 'acceptEdits',
    },
    ...{ title: DEMO_TASK, surfaces: { demo: surface }, lingers: false, wantsStreamEvents: true },
    provider: { baseUrl, apiKey: 'simulated', authToken: undefined },
  });
};

const introduction = ({ path, hasGit }: DemoRepository, width: number): string => {
  const rows = [
    ['where', `${path}${hasGit ? '' : ' (without history, since git is not installed)'}`],
    ['rules', 'reading is free, edits are accepted, anything else is asked about'],
    ['task', DEMO_TASK],
  ];
  return [
    ...wrapped('skein demo: a swarm mends a failing test. Only the model is simulated.', width),
    ...rows.map(([name = '', words]) => `  ${name.padEnd(6)} ${words}`),
    '',
  ].join('\n');
};

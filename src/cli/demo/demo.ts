/**
 * `skein demo`: a real swarm, with real tools, real files and real processes, against the built-in
 * simulator. In the middle the process that runs it is killed, and the next one goes on.
 */
import { rmSync } from 'node:fs';
import { openArchive } from '../../sdk/assembly/options/open-store.js';
import { startSimulator } from '../../simulator/server.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { chartStyle } from '../../terminal/text/bar-chart.js';
import { wrapped } from '../../terminal/text/format-numbers.js';
import { costOfSession } from '../../views/cost/session-cost.js';
import { EXIT } from '../run/exit-code.js';
import { DemoChild, type DemoLine } from './demo-child.js';
import { conclusion, DemoTally } from './demo-figures.js';
import { DemoNarration } from './demo-narration.js';
import { DemoPerson } from './demo-person.js';
import { type DemoRepository, makeDemoRepository } from './demo-repository.js';
import { DEMO_TASK, demoScript, FIRST_TO_REST } from './demo-script.js';

const SESSION = 'demo';

export const demo = async (machine: TerminalHost, json: boolean): Promise<number> => {
  const repository = await makeDemoRepository();
  const remove = () => rmSync(repository.folder, { recursive: true, force: true, maxRetries: 3 });
  // A second Ctrl-C ends the process on the spot.
  process.once('exit', remove);
  const simulator = await startSimulator({ script: demoScript(repository.hasGit) });
  const style = chartStyle(machine);
  const say = json ? () => undefined : machine.out;
  const narration = new DemoNarration(style, say);
  const tally = new DemoTally();
  let hasCrashed = false;
  const take = (line: DemoLine): boolean => {
    tally.take(line);
    narration.tell(line);
    if (hasCrashed || line.is_idle !== true || line.name !== FIRST_TO_REST) return false;
    hasCrashed = true;
    return true;
  };
  const child = new DemoChild({
    machine,
    repository,
    baseUrl: simulator.url,
    session: SESSION,
    take,
  });
  const swarm: TerminalHost = {
    ...machine,
    home: repository.folder,
    cwd: repository.path,
    env: child.environment,
  };
  const person = new DemoPerson({
    machine: swarm,
    asks: (question, isThere) => narration.ask(question, isThere),
    answers: (question, words) => narration.answer(question, words),
  });
  const stopListening = machine.onInterrupt(() => child.kill('SIGINT'));
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  try {
    say(introduction(repository, style.width));
    person.watch();
    if (await child.begin()) {
      const [pid] = child.pids;
      narration.remark(`kill -9 ${pid}: the process that ran all of them is gone.`, true);
      narration.remark('Another one reads their journals, and everybody goes on.', false);
      await child.resume();
    }
    person.close();
    const store = await openArchive(swarm, {});
    const costs = await costOfSession(store, SESSION);
    const figures = await tally.figures(costs, repository, {
      questions: person.answered,
      processes: child.pids.length,
    });
    if (figures.stopReason === 'none') machine.err(child.stderr);
    machine.out(json ? `${JSON.stringify(figures, null, 2)}\n` : conclusion(figures, costs, style));
    if (figures.stopReason === 'interrupted') return EXIT.interrupted;
    return figures.stopReason === 'end_turn' && figures.testsPass ? EXIT.done : EXIT.failed;
  } finally {
    person.close();
    killOnExit();
    await simulator.close();
    remove();
    process.off('exit', remove);
    process.off('exit', killOnExit);
    stopListening();
  }
};

const introduction = ({ path, hasGit }: DemoRepository, width: number): string => {
  const rows = [
    ['where', `${path}${hasGit ? '' : ' (without worktrees, since git is not installed)'}`],
    ['rules', 'reading is free, edits are accepted, anything else is asked about'],
    ['task', DEMO_TASK],
  ];
  return [
    ...wrapped('skein demo: a swarm mends a failing test. Only the model is simulated.', width),
    ...rows.map(([name = '', words]) => `  ${name.padEnd(6)} ${words}`),
    '',
  ].join('\n');
};

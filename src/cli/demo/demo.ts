/**
 * Demo (`skein demo`): runs a swarm with real tools, files and processes against the built-in
 * simulator. Kills the process of the swarm in the middle and resumes the session.
 */
import { rmSync } from 'node:fs';
import { openExistingStore } from '../../sdk/assembly/options/open-store.js';
import { startSimulator } from '../../simulator/start-simulator.js';
import { chartStyle } from '../../terminal/charts/chart-style.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { wrapWords } from '../../terminal/text/fit-text.js';
import { sessionCost } from '../../views/cost/session-cost.js';
import { ExitCode } from '../session/exit-code.js';
import { DemoChild, type DemoLine } from './demo-child.js';
import { DemoCounter, demoSummary } from './demo-figures.js';
import { DemoPerson } from './demo-person.js';
import { DemoPrinter } from './demo-printer.js';
import { type DemoRepository, makeDemoRepository } from './demo-repository.js';
import { DEMO_TASK, demoScript, FIRST_TO_IDLE } from './demo-script.js';

const SESSION = 'demo';

export const demo = async (host: TerminalHost, isJson: boolean): Promise<number> => {
  const repository = await makeDemoRepository();
  const remove = () => rmSync(repository.folder, { recursive: true, force: true, maxRetries: 3 });
  // A second Ctrl-C exits at once, so the folder is also removed at exit.
  process.once('exit', remove);
  const simulator = await startSimulator({ script: demoScript(repository.hasGit) });
  const style = chartStyle(host);
  const print = isJson ? () => undefined : host.out;
  const printer = new DemoPrinter(style, print);
  const counter = new DemoCounter();
  let hasCrashed = false;
  const take = (line: DemoLine): boolean => {
    counter.take(line);
    printer.take(line);
    if (hasCrashed || line.is_idle !== true || line.name !== FIRST_TO_IDLE) return false;
    hasCrashed = true;
    return true;
  };
  const child = new DemoChild({
    host,
    repository,
    baseUrl: simulator.url,
    session: SESSION,
    take,
  });
  const swarm: TerminalHost = {
    ...host,
    home: repository.folder,
    cwd: repository.path,
    env: child.environment,
  };
  const person = new DemoPerson({
    host: swarm,
    asks: (question, isPersonThere) => printer.ask(question, isPersonThere),
    answers: (question, text) => printer.answer(question, text),
  });
  const stopListening = host.onInterrupt(() => child.kill('SIGINT'));
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  try {
    print(introduction(repository, style.width));
    person.watch();
    if (await child.start()) {
      const [pid] = child.pids;
      printer.remark(`kill -9 ${pid}: the process that ran all agents is gone.`, true);
      printer.remark('Another process reads their journals, and all agents resume.', false);
      await child.resume();
    }
    person.close();
    const store = await openExistingStore(swarm, {});
    const costs = await sessionCost(store, SESSION);
    const figures = await counter.figures(costs, repository, {
      questions: person.answered,
      processes: child.pids.length,
    });
    if (figures.stopReason === 'none') host.err(child.stderr);
    host.out(isJson ? `${JSON.stringify(figures, null, 2)}\n` : demoSummary(figures, costs, style));
    if (figures.stopReason === 'interrupted') return ExitCode.interrupted;
    return figures.stopReason === 'end_turn' && figures.testsPass ? ExitCode.done : ExitCode.failed;
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
    ['rules', 'reads and edits are allowed, other calls need an answer'],
    ['task', DEMO_TASK],
  ];
  return [
    ...wrapWords('skein demo: a swarm fixes a failing test. Only the model is simulated.', width),
    ...rows.map(([name = '', text]) => `  ${name.padEnd(6)} ${text}`),
    '',
  ].join('\n');
};

/** Screen view: assembles the screen of an interactive session. */
import { branchReader } from '../../host/git/find-git-directory.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { imagesToAttach } from '../../sdk/api/messages/attach-images.js';
import { contextUseOf } from '../../sdk/sessions/context-use.js';
import { KeyTerminal } from '../../terminal/input/key-terminal.js';
import { FeedPrinter } from '../../terminal/output/feed-printer.js';
import {
  nameOfAgent,
  type OpenView,
  type SessionViewDeps,
} from '../../terminal/output/session-view.js';
import { cacheReadPercent } from '../../views/cost/cache-read-percent.js';
import { SessionScreen } from './session-screen.js';
import { SessionSwarm } from './session-swarm.js';
import type { StatusFacts } from './status-line.js';
import { workspaceFiles } from './workspace-files.js';

export const screenView: OpenView = (deps) => {
  const { host, history, isVerbose } = deps;
  const cwd = () => deps.facts().cwd;
  const screen = new SessionScreen({
    host,
    session: () => deps.session(),
    status: statusOf(deps),
    nameOf: (agent) => nameOfAgent(deps, printer, agent),
    purposeOf: (agent) => printer.swarm.purposeOf(agent),
    changeMode: () => deps.nextMode(),
    interruptRun: () => deps.interruptRun(),
    files: workspaceFiles(host, cwd, () => {
      screen.draftChanged();
      screen.live.notify();
    }),
    imagesIn: (text) => imagesToAttach(text, cwd(), host.home),
    openSwarm: (close, inbox) => swarm.open(close, inbox),
    onDefect: (error) => deps.onDefect(error),
  });
  const swarm = new SessionSwarm(deps);
  const terminal = new KeyTerminal(host, history, screen);
  const printer = new FeedPrinter(terminal, { isVerbose, display: screen.live });
  return {
    inputMode: 'screen',
    terminal,
    printer,
    surface: screen.surface,
    receive: (item) => {
      screen.live.receive(item);
      swarm.receive(item);
    },
    promptQueued: (text, isWaiting) => screen.live.queue(text, isWaiting),
    reset: () => screen.live.reset(),
    close: () => {
      terminal.close();
      swarm.close();
      screen.close();
    },
  };
};

/** Time for which the branch name is cached, because a frame is drawn ten times a second. */
const BRANCH_MS = 2_000;

const statusOf = (deps: SessionViewDeps): (() => Omit<StatusFacts, 'running' | 'waiting'>) => {
  let branch = { cwd: '', name: undefined as string | undefined, readAt: 0 };
  const branchAt = (cwd: string) => {
    const now = performance.now();
    if (branch.cwd !== cwd || now - branch.readAt > BRANCH_MS) {
      branch = { cwd, name: branchReader(cwd)(), readAt: now };
    }
    return branch.name;
  };
  return () => {
    const { model, mode, cwd } = deps.facts();
    const name = branchAt(cwd);
    const facts = { model, mode, ...(name !== undefined && { branch: name }) };
    const session = deps.session();
    if (session === undefined) return facts;
    const { usage, cost } = session.spent;
    const cachePercent = cacheReadPercent(usage.cacheRead, windowTokens(usage) - usage.output);
    return {
      ...facts,
      cost,
      context: contextUseOf(session),
      ...(cachePercent !== null && { cachePercent }),
    };
  };
};

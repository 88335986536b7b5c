/** A session on a screen, put together: what it shows, where that comes from, and its keys. */
import { branchReader } from '../../host/git/find-git-directory.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { imagesToShow } from '../../sdk/api/messages/prompt-images.js';
import { contextUseOf } from '../../sdk/sessions/context-use.js';
import { KeyTerminal } from '../../terminal/input/key-terminal.js';
import { FeedPrinter } from '../../terminal/output/feed-printer.js';
import { type FaceHost, nameOfAgent, type OpenView } from '../../terminal/output/session-view.js';
import { cacheReadPercent } from '../../views/cost/cache-share.js';
import { SessionScreen } from './session-screen.js';
import { SessionSwarm } from './session-swarm.js';
import type { StatusFacts } from './status-line.js';
import { workspaceFiles } from './workspace-files.js';

export const screenView: OpenView = (host) => {
  const { machine, history, isVerbose } = host;
  const cwd = () => host.place().cwd;
  const screen = new SessionScreen({
    machine,
    session: () => host.session(),
    status: statusOf(host),
    nameOf: (agent) => nameOfAgent(host, narration, agent),
    purposeOf: (agent) => narration.swarm.purposeOf(agent),
    changeMode: () => host.nextMode(),
    interruptRun: () => host.interruptRun(),
    files: workspaceFiles(machine, cwd, () => {
      screen.drafted();
      screen.board.changed();
    }),
    imagesIn: (text) => imagesToShow(text, cwd(), machine.home),
    openSwarm: (close, inbox) => swarm.open(close, inbox),
    onDefect: (error) => host.onDefect(error),
  });
  const swarm = new SessionSwarm(host);
  const terminal = new KeyTerminal(machine, history, screen);
  const narration = new FeedPrinter(terminal, { isVerbose, work: screen.board });
  return {
    typing: 'screen',
    terminal,
    narration,
    surface: screen.surface,
    hear: (item) => {
      screen.board.hear(item);
      swarm.hear(item);
    },
    queued: (text, isWaiting) => screen.board.queue(text, isWaiting),
    forget: () => screen.board.forget(),
    close: () => {
      terminal.close();
      swarm.close();
      screen.close();
    },
  };
};

/** A branch changes rarely, and a frame is drawn ten times a second. */
const BRANCH_MS = 2_000;

const statusOf = (host: FaceHost): (() => Omit<StatusFacts, 'running' | 'waiting'>) => {
  let branch = { cwd: '', name: undefined as string | undefined, readAt: 0 };
  const branchAt = (cwd: string) => {
    const now = performance.now();
    if (branch.cwd !== cwd || now - branch.readAt > BRANCH_MS) {
      branch = { cwd, name: branchReader(cwd)(), readAt: now };
    }
    return branch.name;
  };
  return () => {
    const { model, mode, cwd } = host.place();
    const name = branchAt(cwd);
    const facts = { model, mode, ...(name !== undefined && { branch: name }) };
    const session = host.session();
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

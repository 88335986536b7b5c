/** Workspace in which a real agent works with real tools and a real shell, and its rewinds. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { systemClock } from '../../../src/protocol/clock.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { HostEnvironment } from '../../../src/sdk/assembly/options/host-environment.js';
import { sessionCheckpoints } from '../../../src/sdk/assembly/session-checkpoints.js';
import { openSessionRewind, type SessionRewind } from '../../../src/sdk/sessions/session-rewind.js';
import { FileSessionStore } from '../../../src/store/files/file-session-store.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { WATCHDOG } from '../../host/process/processes.js';
import { finish, openRig, type ScriptedTurn, speaks } from '../../laws/session-rig.js';

export interface Call {
  readonly tool: string;
  readonly input: unknown;
}

export interface RewindScene {
  readonly folder: string;
  readonly root: string;
  readonly skeinHome: string;
  readonly store: FileSessionStore;
  /** Runs a session in which each prompt leads to these calls, in order. */
  work(prompts: readonly (readonly Call[])[], atPrompt?: () => void): Promise<string>;
  openRewind(session: string): Promise<SessionRewind>;
  /** Appends to a journal, as a process would. */
  append(session: string, ...bodies: readonly JournalBody[]): Promise<void>;
  records(session: string): Promise<readonly JournalRecord[]>;
  close(): void;
}

const marker = ownerMarker('rewind-test');

export const bash = (command: string): Call => ({ tool: 'Bash', input: { command } });

export const rewindScene = (kind: 'git' | 'plain'): RewindScene => {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'rewind-')));
  const [root, skeinHome] = [join(folder, 'work'), join(folder, 'state')];
  fs.mkdirSync(root);
  if (kind === 'git') execFileSync('git', ['init', '-q', '-b', 'main', root]);
  const environment = childEnvironment(process.env, marker, tmpdir());
  const watchdog = watchdogLink({ command: WATCHDOG, marker });
  const shell = hostShell({ environment, watchdog });
  const store = new FileSessionStore({
    root: join(skeinHome, 'sessions'),
    owner: { marker, pid: process.pid },
    isOwnerAlive: () => false,
    clock: systemClock,
  });
  const host: HostEnvironment = {
    env: { ...process.env, SKEIN_HOME: skeinHome },
    home: folder,
    cwd: root,
    platform: process.platform,
    watchdog: [],
    notify: () => {},
  };
  const metaOf = async (id: string) => {
    const meta = (await store.list()).find((it) => it.id === id);
    if (meta === undefined) throw new Error('there is no such session');
    return meta;
  };
  return {
    folder,
    root,
    skeinHome,
    store,
    async work(prompts, atPrompt = () => {}) {
      const session = await openRig({
        model: speaks(prompts.flatMap(turnsOf)),
        tools: builtinTools,
        cwd: root,
        store,
        shell,
        workspace: diskWorkspace(),
        mode: 'bypassPermissions',
        staysIdle: true,
        checkpoints: (record) =>
          sessionCheckpoints({ skeinHome, roots: [root], environment, notify: () => {} }, record),
      });
      for (const [at] of prompts.entries()) {
        atPrompt();
        await finish(session, `prompt ${at + 1}`);
      }
      await session.close();
      return session.id;
    },
    openRewind: async (id) => openSessionRewind(host, {}, store, await metaOf(id)),
    async append(id, ...bodies) {
      const session = await store.open(id);
      const journal = await session.journal((await metaOf(id)).lead, null);
      for (const body of bodies) journal.append(body);
      await session.close();
    },
    records: async (id) => (await store.readJournal(id, (await metaOf(id)).lead)).records,
    close() {
      watchdog.dismiss();
      execFileSync('chmod', ['-R', 'u+rwX', folder]);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
};

let drawn = 0;

const turnsOf = (calls: readonly Call[]): readonly ScriptedTurn[] => [
  ...calls.map((call) => {
    drawn += 1;
    return { calls: [{ id: `toolu_${drawn}`, ...call }] };
  }),
  { text: 'Done.' },
];

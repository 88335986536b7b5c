/** Scene for tests of laws: a workspace, a simulator and the real command in print mode. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../src/protocol/clock.js';
import { type JournalRecord, parseRecord } from '../../src/protocol/session/journal-record.js';
import type { ScriptInput } from '../../src/simulator/script.js';
import { type Ended, openScene, type Running } from '../fakes/skein-process.js';

export interface PrintScene {
  readonly home: string;
  readonly workspace: string;
  /** Starts `skein -p` with the simulator as its model. */
  start(args: readonly string[], env?: Record<string, string>): Running;
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>;
  journal(session: string): JournalRecord[];
  artifacts(session: string): string;
  /** Request bodies that the simulator has received, oldest first. */
  bodies(): Buffer[];
  close(): Promise<void>;
}

/** `clock`: clock of the simulator, for its delays. */
export const openPrintScene = async (
  script: ScriptInput,
  files: Readonly<Record<string, string>> = {},
  clock?: Clock,
): Promise<PrintScene> => {
  const { home, skeinHome, workspace, simulator, start, close } = await openScene(
    script.rules,
    undefined,
    clock,
  );
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text, { mode: 0o755 });
  }
  const startPrint = (args: readonly string[], env: Record<string, string> = {}): Running => {
    const running = start(['-p', ...args], { env });
    running.endInput();
    return running;
  };
  const folder = (session: string, name: string) => join(skeinHome, 'sessions', session, name);
  return {
    home,
    workspace,
    close,
    start: startPrint,
    run: (args, env) => startPrint(args, env).ended,
    journal(session) {
      const agents = folder(session, 'agents');
      return readdirSync(agents)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => readFileSync(join(agents, name), 'utf8').split('\n'))
        .flatMap((line) => parseRecord(line) ?? []);
    },
    artifacts: (session) => folder(session, 'artifacts'),
    bodies: () => simulator.requests.map(({ body }) => body),
  };
};

/**
 * A session on disk that runs against a simulator with a virtual clock. A test can change the prompt
 * between two processes and read the cache breaks that the session records.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LeadSession, SessionOptions } from '../../../src/actors/session/lead-session.js';
import { anthropicModel } from '../../../src/model/anthropic-model.js';
import { systemClock } from '../../../src/protocol/clock.js';
import type { ContextProvider } from '../../../src/protocol/model/context-provider.js';
import type { HeadSection, PromptHead } from '../../../src/protocol/model/prompt-head.js';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import type { ScriptInput } from '../../../src/simulator/script.js';
import { type Simulator, startSimulator } from '../../../src/simulator/start-simulator.js';
import { FileSessionStore } from '../../../src/store/files/file-session-store.js';
import { plainContext } from '../../fakes/agents/plain-context.js';
import { virtualClock } from '../../fakes/virtual-clock.js';
import { finish, openRig } from '../../laws/session-rig.js';
import { temporaryFolder } from '../../store/session-folder.js';

/** Pads text so that it is long enough to be cached and to cause a cache miss. */
const long = (text: string): string => text.padEnd(12_000, ' and so on');

const tool = (name: string) => ({
  name,
  description: long(`${name}s.`),
  input_schema: { type: 'object', properties: {} },
});

export const INTRO = long('You are a goose.');
export const PLACE = long('You fly over Žďár.');

export interface HeadTexts {
  readonly intro?: string;
  readonly place?: string;
}

/** A prompt head with two sections, each in its own block, and three tools. */
export const headOf = ({ intro = INTRO, place = PLACE }: HeadTexts = {}): PromptHead => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const section = (name: string, block: number, text: string): HeadSection => ({
    name,
    zone: block === 0 ? 'static' : 'dynamic',
    source: 'test',
    block,
    start: 0,
    end: text.length,
  });
  return {
    tools: JSON.stringify([tool('Edit'), tool('Grep'), tool('Read')]),
    system: JSON.stringify([intro, place].map((text) => ({ type: 'text', text, ...mark }))),
    sections: [section('intro', 0, intro), section('env info', 1, place)],
    ttl: '5m',
  };
};

export type BreakRecord = Extract<JournalRecord, { type: 'cache.broken' }>;

/** Options of a process that runs the session. */
export interface ProcessOptions {
  readonly options?: Partial<SessionOptions>;
  readonly context?: Partial<ContextProvider>;
  readonly simulator?: Simulator;
  /** Runs before the last prompt. */
  readonly beforeLastPrompt?: ((session: LeadSession) => unknown) | undefined;
}

export const watchSession = async (rules: ScriptInput['rules'] = [{ reply: 'Honk.' }]) => {
  const root = temporaryFolder();
  const clock = virtualClock();
  const serve = async () => {
    const simulator = await startSimulator({ script: { rules }, clock });
    onTestFinished(() => simulator.close());
    return simulator;
  };
  const first = await serve();
  const owner = { marker: 'watched', pid: process.pid };
  const store = new FileSessionStore({ root, owner, isOwnerAlive: () => false, clock });
  const folder = join(root, 'watched');
  const notices: string[] = [];
  let hasStarted = false;

  /** Starts or resumes the session, sends `prompts` prompts, and closes it. */
  const runPrompts = async (prompts: number, given: ProcessOptions = {}): Promise<void> => {
    const model = anthropicModel({
      apiKey: 'key',
      authToken: undefined,
      baseUrl: (given.simulator ?? first).url,
      env: {},
      clock: systemClock,
      streamIdleTimeoutMs: 60_000,
    });
    const session = await openRig({
      model,
      tools: [],
      clock,
      store,
      staysIdle: true,
      choice: { kind: hasStarted ? 'resume' : 'new', id: 'watched' },
      options: {
        contextProvider: plainContext({ head: async () => headOf(), ...given.context }),
        ...given.options,
      },
    });
    hasStarted = true;
    session.listen((item) => {
      if (item.type === 'notice') notices.push(item.text);
    });
    for (let prompt = 1; prompt <= prompts; prompt += 1) {
      if (prompt === prompts) await given.beforeLastPrompt?.(session);
      await finish(session, long('Fly on.'));
    }
    await session.close();
  };

  const records = async () =>
    (await store.readJournal('watched', (await store.list())[0]?.lead ?? '')).records;

  return {
    clock,
    notices,
    runPrompts,
    serve,
    records,
    breaks: async () => (await records()).filter((record) => record.type === 'cache.broken'),
    /** Changes the stored prompt head and the digests that refer to it. */
    async editHead(change: (head: EditedHead) => void) {
      const artifacts = join(folder, 'artifacts');
      for (const name of await readdir(artifacts)) {
        if (!name.startsWith('prompt-')) continue;
        const head = JSON.parse(await readFile(join(artifacts, name), 'utf8')) as EditedHead;
        change(head);
        const bytes = JSON.stringify(head);
        const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
        await writeFile(join(artifacts, `prompt-${digest}.json`), bytes);
        await edit(join(folder, 'agents'), (text) =>
          text.replaceAll(name, `prompt-${digest}.json`),
        );
      }
    },
    editJournal: (change: (text: string) => string) => edit(join(folder, 'agents'), change),
  };
};

export interface EditedHead {
  tools: { name: string; description: string }[];
  system: { text: string }[];
  sections: HeadSection[];
}

const edit = async (folder: string, change: (text: string) => string) => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    await writeFile(path, change(await readFile(path, 'utf8')));
  }
};

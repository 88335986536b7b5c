/** A swarm on the wire: a lead in this process, a real server as its model, and the bodies that it got. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/protocol/clock.js';
import type { PromptContent } from '../../src/sdk/api/messages/prompt-content.js';
import type { ResultMessage } from '../../src/sdk/api/messages/skein-message.js';
import type { QueryOptions } from '../../src/sdk/api/query-options.js';
import type { RequestRecord } from '../../src/simulator/request-log.js';
import { type Simulator, startSimulator } from '../../src/simulator/start-simulator.js';
import type { Line, Rules, Scene } from '../fakes/skein-process.js';
import { eventually } from '../host/process/processes.js';
import { openSession, program, query, resultOf } from '../sdk/api/program.js';

/** Limits that no fan-out of a law meets. */
export const WIDE = { maxAgents: 1_000, maxConcurrentAgents: 1_000, maxConcurrentRequests: 1_000 };

export interface SwarmWire extends Scene {
  readonly options: QueryOptions;
  /** Says the prompts one after the other in one session; throws unless each ends well. */
  say(...prompts: readonly PromptContent[]): Promise<string>;
  /** The requests to the messages API so far, oldest first. */
  sent(): readonly RequestRecord[];
}

export interface WireOptions {
  /** Of the server alone: what is delayed waits for it. */
  readonly clock?: Clock;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly options?: QueryOptions;
}

export const swarmWire = async (
  rules: Rules,
  { files = {}, options = {}, clock }: WireOptions = {},
): Promise<SwarmWire> => {
  const scene = await program(rules);
  const server = clock === undefined ? scene.simulator : await held(rules, clock);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(scene.workspace, name)), { recursive: true });
    writeFileSync(join(scene.workspace, name), content);
  }
  const settings = { skein: WIDE };
  const baseUrl = server.url;
  const wanted: QueryOptions = { ...scene.options, baseUrl, settings, ...options };
  return {
    ...scene,
    options: wanted,
    async say(...prompts) {
      const [only] = prompts;
      // One that has nothing else to answer stays until all that work for it have ended.
      if (only !== undefined && prompts.length === 1) {
        return wellEnded(await resultOf(query({ prompt: only, options: wanted })));
      }
      const session = await openSession(wanted);
      try {
        let said = '';
        for (const prompt of prompts) {
          said = wellEnded(await resultOf(session.query(prompt)));
        }
        return said;
      } finally {
        await session.close();
      }
    },
    sent: () => server.requests.filter(({ path }) => path === '/v1/messages'),
  };
};

const wellEnded = (result: ResultMessage): string => {
  if (result.subtype !== 'success') throw new Error(JSON.stringify(result));
  return result.result;
};

const held = async (rules: Rules, clock: Clock): Promise<Simulator> => {
  const server = await startSimulator({ script: { rules }, clock });
  onTestFinished(() => server.close());
  return server;
};

/** A clock that nobody's time passes on: who waits for it goes on when told to. */
export const gateClock = () => {
  const waiting = new Set<() => void>();
  const clock: Clock = {
    now: () => Date.now(),
    wakeAt(_at, wake) {
      waiting.add(wake);
      return () => waiting.delete(wake);
    },
  };
  return {
    clock,
    /** Resolves when so many wait at once. */
    until: (count: number) => eventually(`${count} wait`, () => waiting.size === count),
    release() {
      for (const wake of waiting) wake();
      waiting.clear();
    },
  };
};

export const bodyOf = ({ body }: Pick<RequestRecord, 'body'>): Line =>
  JSON.parse(body.toString()) as Line;

/** The text blocks of the newest message, one line each. */
export const lastTexts = (request: Pick<RequestRecord, 'body'>): string =>
  (bodyOf(request).messages.at(-1).content as Line[])
    .flatMap(({ type, text }) => (type === 'text' ? [text as string] : []))
    .join('\n');

/** First requests of forks: their newest message hands over a task. */
export const isForkStart = (request: Pick<RequestRecord, 'body'>): boolean =>
  lastTexts(request).includes('<fork-task>');

export const turnsIn = (request: Pick<RequestRecord, 'body'>): number =>
  (bodyOf(request).messages as Line[]).filter(({ role }) => role === 'assistant').length;

/** One call of Task, as a script has it. */
export const taskCall = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: 'One part of it', prompt, ...more },
});

export const tasks = (count: number, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, at) => taskCall(`Do part ${at}.`, more));

/** A small picture: one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

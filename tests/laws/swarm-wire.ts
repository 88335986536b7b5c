/** Swarm on the wire: a lead in this process, a simulator as its model, and the sent requests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/protocol/clock.js';
import type { PromptContent } from '../../src/sdk/api/messages/prompt-content.js';
import type { ResultMessage } from '../../src/sdk/api/messages/skein-message.js';
import type { QueryOptions } from '../../src/sdk/api/query-options.js';
import type { RequestRecord } from '../../src/simulator/request-log.js';
import { type Simulator, startSimulator } from '../../src/simulator/start-simulator.js';
import { eventually } from '../fakes/eventually.js';
import type { Line, Rules, Scene } from '../fakes/skein-process.js';
import { openSession, program, query, resultOf } from '../sdk/api/program.js';

/** Limits above every fan-out in the tests of laws. */
export const WIDE = { maxAgents: 1_000, maxConcurrentAgents: 1_000, maxConcurrentRequests: 1_000 };

export interface SwarmWire extends Scene {
  readonly options: QueryOptions;
  /** Sends the prompts in order in one session. Throws unless each run succeeds. */
  say(...prompts: readonly PromptContent[]): Promise<string>;
  /** Requests to the messages API, oldest first. */
  sent(): readonly RequestRecord[];
}

export interface WireOptions {
  /** Clock of the simulator only, for delayed replies. */
  readonly clock?: Clock;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly options?: QueryOptions;
}

export const swarmWire = async (
  rules: Rules,
  { files = {}, options = {}, clock }: WireOptions = {},
): Promise<SwarmWire> => {
  const scene = await program(rules);
  const server = clock === undefined ? scene.simulator : await heldSimulator(rules, clock);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(scene.workspace, name)), { recursive: true });
    writeFileSync(join(scene.workspace, name), content);
  }
  const settings = { skein: WIDE };
  const baseUrl = server.url;
  const queryOptions: QueryOptions = { ...scene.options, baseUrl, settings, ...options };
  return {
    ...scene,
    options: queryOptions,
    async say(...prompts) {
      const [only] = prompts;
      // A run with a single prompt waits until all its agents have ended.
      if (only !== undefined && prompts.length === 1) {
        return textOfSuccess(await resultOf(query({ prompt: only, options: queryOptions })));
      }
      const session = await openSession(queryOptions);
      try {
        let answer = '';
        for (const prompt of prompts) {
          answer = textOfSuccess(await resultOf(session.query(prompt)));
        }
        return answer;
      } finally {
        await session.close();
      }
    },
    sent: () => server.requests.filter(({ path }) => path === '/v1/messages'),
  };
};

const textOfSuccess = (result: ResultMessage): string => {
  if (result.subtype !== 'success') throw new Error(JSON.stringify(result));
  return result.result;
};

const heldSimulator = async (rules: Rules, clock: Clock): Promise<Simulator> => {
  const server = await startSimulator({ script: { rules }, clock });
  onTestFinished(() => server.close());
  return server;
};

/** Clock without time: each wake waits until the test releases it. */
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
    /** Resolves when this number of wakes is waiting. */
    until: (count: number) => eventually(`${count} wait`, () => waiting.size === count),
    release() {
      for (const wake of waiting) wake();
      waiting.clear();
    },
  };
};

export const bodyOf = ({ body }: Pick<RequestRecord, 'body'>): Line =>
  JSON.parse(body.toString()) as Line;

/** Text blocks of the newest message, one per line. */
export const lastTexts = (request: Pick<RequestRecord, 'body'>): string =>
  (bodyOf(request).messages.at(-1).content as Line[])
    .flatMap(({ type, text }) => (type === 'text' ? [text as string] : []))
    .join('\n');

/** True for the first request of a fork, whose newest message contains a task. */
export const isForkStart = (request: Pick<RequestRecord, 'body'>): boolean =>
  lastTexts(request).includes('<fork-task>');

export const turnsIn = (request: Pick<RequestRecord, 'body'>): number =>
  (bodyOf(request).messages as Line[]).filter(({ role }) => role === 'assistant').length;

/** Task call, as a script contains it. */
export const taskCall = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: 'One part of it', prompt, ...more },
});

export const tasks = (count: number, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, at) => taskCall(`Do part ${at}.`, more));

/** Image of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

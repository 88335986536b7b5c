/** Scene with sessions in Redis and workers that run its background agents. */
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/protocol/clock.js';
import type { SessionStore } from '../../../src/protocol/session/session-store.js';
import { openRedisStore } from '../../../src/store/redis/sessions/redis-store.js';
import { eventually } from '../eventually.js';
import { type RedisEndpoint, redisServer } from '../redis/redis-server.js';
import {
  type Ended,
  type Line,
  type Rules,
  type Running,
  type RunOptions,
  type Scene,
  setScene,
} from '../skein-process.js';

export interface WorkerScene<Redis extends RedisEndpoint = RedisEndpoint> extends Scene {
  readonly redis: Redis;
  /** Environment of a process in this scene. */
  readonly env: Variables;
  /** Starts a process without stdin. */
  begin(args: readonly string[], options?: RunOptions): Running;
  /** Starts a worker. Resolves when it takes jobs. */
  worker(args?: readonly string[], options?: RunOptions): Promise<Running>;
  /** Returns the environment of another machine: its own state directory, with the person's key. */
  elsewhere(): Promise<RunOptions>;
  /** Runs a command with `--json` and returns its output. */
  json(...args: readonly string[]): Promise<Line>;
  /** Waits until the agents that `ps` lists below the lead match. */
  agents(
    session: string,
    what: string,
    fits: (agents: readonly Line[]) => boolean,
  ): Promise<readonly Line[]>;
  /** Resolves when the lease of a killed lead has expired. */
  left(session: string): Promise<void>;
  /** Opens the store as another process. */
  store(): Promise<SessionStore>;
  /** Returns the records of all agents of a session, the lead first. */
  journals(session: string): Promise<readonly (readonly Line[])[]>;
}

/** Returns the lines that commands have appended to the file `log`. */
export const logOf = ({ workspace }: Scene): readonly string[] => {
  try {
    return readFileSync(join(workspace, 'log'), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
};

/** Resolves when the lead's copy of session `one` has the start of a call whose input has this text. */
export const untilCopied = ({ skeinHome }: Scene, text: string): Promise<boolean> =>
  eventually(`a call with ${text} is copied`, () => {
    const folder = join(skeinHome, 'sessions', 'one', 'agents');
    return readdirSync(folder).some((name) => {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      return lines.some((line) => line.includes('"call.started"') && line.includes(text));
    });
  });

/** Short lease, so that a killed process is detected soon, but long enough for a busy process. */
export const SOON = { SKEIN_LEASE_MS: '3000' };

type Variables = Readonly<Record<string, string>>;

export const workerScene = (rules: Rules, more?: Variables): Promise<WorkerScene> =>
  workerSceneAt(redisServer(), rules, more);

export const workerSceneAt = async <Redis extends RedisEndpoint>(
  opening: Promise<Redis>,
  rules: Rules,
  more: Variables = {},
): Promise<WorkerScene<Redis>> => {
  const [scene, redis] = await Promise.all([setScene(rules), opening]);
  const env = { SKEIN_REDIS_URL: redis.url, ...more };
  const within = ({ env: own, ...options }: RunOptions = {}) => ({
    ...options,
    env: { ...env, ...own },
  });
  const run: Scene['run'] = (args, options) => scene.run(args, within(options));
  const start: Scene['start'] = (args, options) => scene.start(args, within(options));
  const json = async (...args: readonly string[]) => parseOutput(await run([...args, '--json']));
  const agentsOf = async (session: string): Promise<readonly Line[]> => {
    const [swarm] = (await json('ps', session)).swarms as readonly Line[];
    const { agents = [] } = swarm ?? {};
    return (agents as readonly Line[]).filter(({ kind }) => kind !== 'lead');
  };
  let opened: Promise<SessionStore> | undefined;
  const store = () => {
    opened ??= openRedisStore({
      url: redis.url,
      owner: { marker: 'test', pid: process.pid },
      clock: systemClock,
      redact: (text: string) => text,
      folder: join(scene.tmp, 'sessions'),
    }).then(({ sessions }) => {
      onTestFinished(() => sessions.close());
      return sessions;
    });
    return opened;
  };
  let homes = 0;
  return {
    ...scene,
    redis,
    env,
    run,
    start,
    json,
    store,
    begin(args, options) {
      const started = start(args, options);
      started.endInput();
      return started;
    },
    async worker(args = [], options) {
      const worker = start(['worker', ...args], options);
      await eventually('the worker takes jobs', () => worker.stderr.includes(' takes up to '));
      return worker;
    },
    async elsewhere() {
      homes += 1;
      const home = join(scene.root, `elsewhere-${homes}`);
      const skeinHome = join(home, '.skein');
      await mkdir(skeinHome, { recursive: true, mode: 0o700 });
      await cp(join(scene.skeinHome, 'keys'), join(skeinHome, 'keys'), { recursive: true });
      return { env: { ...env, HOME: home, SKEIN_HOME: skeinHome } };
    },
    async agents(session, what, fits) {
      for (let round = 0; round < 100; round += 1) {
        const seen = await agentsOf(session);
        if (fits(seen)) return seen;
      }
      throw new Error(`Never true: ${what}: ${JSON.stringify(await agentsOf(session))}`);
    },
    async left(session) {
      const sessions = await store();
      while ((await sessions.holder(session)) !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async journals(session) {
      const sessions = await store();
      const ids = new Set<string>();
      for await (const { agent } of sessions.events(session)) ids.add(agent);
      const journals: (readonly Line[])[] = [];
      for (const id of ids) {
        journals.push(
          (await sessions.readJournal(session, id)).records as unknown as readonly Line[],
        );
      }
      return journals;
    },
  };
};

const parseOutput = ({ stdout, stderr, code }: Ended): Line => {
  if (stdout === '')
    throw new Error(`The command printed no output and ended with ${code}. ${stderr}`);
  return JSON.parse(stdout) as Line;
};

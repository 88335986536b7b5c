/** A scene at the fixed root of a recording, with a private Redis if the session is in Redis. */
import { openRedis } from '../fakes/redis/own-redis-server.js';
import {
  type Ended,
  type OpenScene,
  openScene,
  type Running,
  type RunOptions,
} from '../fakes/skein-process.js';
import type { RecordedState } from './fixture.js';
import { writeFolderState } from './folder-state.js';
import { emptyRoot, type Kind } from './recorded-place.js';
import { writeRedisState } from './redis-state.js';
import { RULES } from './story.js';

export interface RecordedScene extends OpenScene {
  /** Address of the private Redis. Undefined if the session is in files. */
  readonly redisUrl: string | undefined;
  /** Starts `skein`, with its input closed. */
  begin(args: readonly string[]): Running;
  /** Runs `skein` to its end. Rejects unless it succeeds. */
  succeed(args: readonly string[], stdin?: string): Promise<Ended>;
  /** Starts a worker if the session is in Redis. Returns the function that stops it. */
  work(): () => Promise<void>;
}

/** Opens a scene without a session. `more.through` is the program that starts every process. */
export const openEmptyScene = async (
  kind: Kind,
  more: Pick<RunOptions, 'through'> = {},
): Promise<RecordedScene> => {
  const root = await emptyRoot(kind);
  const redis = kind === 'redis' ? await openRedis() : undefined;
  const scene = await openScene(RULES, root);
  const options = { env: { TZ: 'UTC', SKEIN_REDIS_URL: redis?.url }, ...more };
  const begin = (args: readonly string[]) => {
    const running = scene.start(args, options);
    running.endInput();
    return running;
  };
  return {
    ...scene,
    redisUrl: redis?.url,
    begin,
    async succeed(args, stdin = '') {
      const ended = await scene.run(args, { ...options, stdin });
      if (ended.code === 0) return ended;
      throw new Error(`skein ${args.join(' ')} ended with ${ended.code}. ${ended.stderr}`);
    },
    work() {
      if (redis === undefined) return async () => {};
      const worker = begin(['worker']);
      return async () => {
        worker.kill('SIGTERM');
        await worker.ended;
      };
    },
    async close() {
      await scene.close();
      await redis?.stop();
    },
  };
};

/** Opens a scene with the recorded session, as it was when its last process had ended. */
export const openRecordedScene = async (
  kind: Kind,
  { home, workspace, redis }: RecordedState,
  more?: Pick<RunOptions, 'through'>,
): Promise<RecordedScene> => {
  const scene = await openEmptyScene(kind, more);
  try {
    await writeFolderState(scene.home, home);
    await writeFolderState(scene.workspace, workspace);
    if (scene.redisUrl !== undefined) await writeRedisState(scene.redisUrl, redis ?? []);
    return scene;
  } catch (error) {
    await scene.close();
    throw error;
  }
};

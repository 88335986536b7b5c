/**
 * Records the sessions of `fixtures` with the built program: `npm run build && npx tsx tests/recorded/record.ts`.
 * Needs Linux, redis-server, and root because the processes get a private host name. A fixture that is recorded again
 * no longer proves that older sessions can be resumed, so add a file for a new format and keep the old files.
 */
import { eventually } from '../fakes/eventually.js';
import { treeOf } from '../host/worktrees/tree-hash.js';
import { type RecordedState, writeFixture } from './fixture.js';
import { readFolderState } from './folder-state.js';
import { type Kind, lockRoots, SESSION } from './recorded-place.js';
import { openEmptyScene, openRecordedScene, type RecordedScene } from './recorded-scene.js';
import { readRedisState } from './redis-state.js';
import { firstRequestWith, lastRequestWith } from './requests.js';
import {
  COUNTING,
  HELPERS,
  LOOKS,
  NEXT_PROMPT,
  PROMPTS,
  RESUME,
  REWIND,
  WAKE_MESSAGE,
  WAKE_PROMPT,
  writeWorkspace,
} from './story.js';

/** Gives each process a fixed host name that differs from the name of this machine. */
const OTHER_HOST = {
  through: ['unshare', '--uts', 'sh', '-c', 'hostname "$0" && exec "$@"', 'recorded'],
} as const;

const record = async (kind: Kind): Promise<void> => {
  const looks: Record<string, string> = {};
  const requests: Record<string, string> = {};
  let rewoundTree: readonly string[] = [];
  const state = await recordSession(kind, requests);
  /** Opens the session as it was recorded, without changes of earlier calls. */
  const look = async (work: (scene: RecordedScene) => Promise<void>): Promise<void> => {
    const scene = await openRecordedScene(kind, state, OTHER_HOST);
    try {
      await work(scene);
    } finally {
      await scene.close();
    }
  };
  await look(async ({ succeed }) => {
    for (const [name, args] of Object.entries(LOOKS)) looks[name] = (await succeed(args)).stdout;
  });
  await look(async ({ succeed, simulator }) => {
    await succeed(['-p', NEXT_PROMPT, ...RESUME]);
    requests.resumed = firstRequestWith(simulator.requests, NEXT_PROMPT).toString();
  });
  await look(async ({ succeed, simulator, work }) => {
    const stop = work();
    await succeed(['-p', WAKE_PROMPT, ...RESUME]);
    await stop();
    for (const [name, prompt] of Object.entries(HELPERS)) {
      const body = lastRequestWith(simulator.requests, prompt).toString();
      if (!body.includes(WAKE_MESSAGE)) throw new Error(`${name} was not resumed`);
      requests[`${name} resumed`] = body;
    }
  });
  await look(async ({ succeed, simulator, workspace }) => {
    await succeed(REWIND);
    rewoundTree = treeOf(workspace);
    await succeed(['-p', NEXT_PROMPT, ...RESUME]);
    requests.rewound = firstRequestWith(simulator.requests, NEXT_PROMPT).toString();
  });
  await writeFixture(kind, { state, looks, requests, rewoundTree });
};

/** Adds the last request of each agent to `requests`. */
const recordSession = async (
  kind: Kind,
  requests: Record<string, string>,
): Promise<RecordedState> => {
  const scene = await openEmptyScene(kind, OTHER_HOST);
  try {
    const stop = scene.work();
    await runSession(scene);
    await stop();
    for (const [name, prompt] of Object.entries({ lead: PROMPTS.sum, ...HELPERS })) {
      requests[name] = lastRequestWith(scene.simulator.requests, prompt).toString();
    }
    const { home, workspace, redisUrl } = scene;
    return {
      home: await readFolderState(home),
      workspace: await readFolderState(workspace),
      ...(redisUrl !== undefined && { redis: await readRedisState(redisUrl) }),
    };
  } finally {
    await scene.close();
  }
};

const runSession = async (scene: RecordedScene): Promise<void> => {
  const { succeed, workspace } = scene;
  await writeWorkspace(workspace);
  await succeed(['-p', PROMPTS.read, '--session-id', SESSION]);
  await succeed(['--plain', ...RESUME], [...COUNTING, '/compact the geese', ''].join('\n'));
  const edits = ['--permission-mode', 'acceptEdits'];
  const shell = ['--allowed-tools', 'Bash(mkdir:*)', 'Bash(mv:*)', 'Bash(echo:*)'];
  await succeed(['-p', PROMPTS.change, ...RESUME, ...edits, ...shell]);
  await succeed(['-p', PROMPTS.share, ...RESUME, ...edits]);
  await answerQuestions(scene);
  await succeed(['-p', PROMPTS.sum, ...RESUME]);
};

/** Allows the first command of the lead and denies the second. */
const answerQuestions = async ({ begin, succeed }: RecordedScene): Promise<void> => {
  const asking = begin(['-p', PROMPTS.ask, ...RESUME, '--ask']);
  const question = (at: number): Promise<string> =>
    eventually(`question ${at} is open`, () => {
      const found = [...asking.stderr.matchAll(/skein approve (q_\w+)/g)];
      return [...new Set(found.map(([, id]) => id))][at];
    });
  await succeed(['approve', await question(0)]);
  await succeed(['deny', await question(1), '--reason', 'not on a Monday']);
  const { code, stderr } = await asking.ended;
  if (code !== 0) throw new Error(`The lead that asked ended with ${code}. ${stderr}`);
};

const free = await lockRoots();
try {
  for (const kind of ['files', 'redis'] as const) await record(kind);
} finally {
  await free();
}

/**
 * Failed commands with `--json`: empty stdout, a single line on stderr and exit code 2. A refusal by a
 * running swarm is JSON on stdout instead (swarm-commands.test.ts).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openScene } from '../../fakes/skein-process.js';

let scene: Awaited<ReturnType<typeof openScene>>;
beforeAll(async () => {
  scene = await openScene();
  await scene.run(['-p', 'go', '--session-id', 'past']);
});
afterAll(() => scene.close());

const NO_SESSION = 'There is no session "nope"; `skein sessions --all` lists them.';
const NO_AGENT =
  'There is no agent "nope": no swarm is running. `skein ps --all` also lists ended sessions.';
const NO_TEXT = 'There is no message: give one, as in skein send lead "…", or pipe one in.';
const NOT_RUNNING = 'Session past is not running; `skein --resume past` resumes it.';
const NO_QUESTION =
  'There is no open question "nope"; it may have been answered or withdrawn. No question is open.';

test.each<[string, string]>([
  ['ps nope', NO_SESSION],
  ['ps --odd', "unknown option '--odd'"],
  ['logs nope', NO_SESSION],
  ['logs nope --follow', NO_SESSION],
  ['send nope text', NO_AGENT],
  ['send past text', NOT_RUNNING],
  ['send past', NO_TEXT],
  ['send', "missing required argument 'agent'"],
  ['stop nope', NO_AGENT],
  ['stop past', NOT_RUNNING],
  ['resume nope', NO_AGENT],
  ['inbox nope', NO_SESSION],
  ['tasks nope', NO_SESSION],
  ['approve nope', NO_QUESTION],
  [
    'approve nope --for ever',
    "option '--for <scope>' argument 'ever' is invalid. Allowed choices are once, session, project.",
  ],
  ['deny nope --reason no', NO_QUESTION],
  ['explain nope', NO_SESSION],
  ['explain nope 1', NO_SESSION],
  ['explain past nope', 'There is no call "nope"'],
])('skein %s --json fails with a single line on stderr', async (line, sentence) => {
  const { code, stdout, stderr } = await scene.run([...line.split(' '), '--json']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.split('\n')).toHaveLength(2);
  expect(stderr.startsWith(`skein: ${sentence}`) ? sentence : stderr).toBe(sentence);
});

test.each([
  ['a blank text', ['send', 'past', '  '], undefined],
  ['a blank pipe', ['send', 'past'], ' \n'],
])('skein send with %s explains how to give a message', async (_, args, stdin = '') => {
  expect(await scene.run(args, { stdin })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `skein: ${NO_TEXT}\n`,
  });
});

test.each([
  ['ps', { swarms: [], unreadable: [] }],
  ['inbox', { questions: [], leftOut: 0 }],
  ['tasks', { session: 'past', isRunning: false, tasks: [] }],
])('skein %s --json prints all keys when its lists are empty', async (command, document) => {
  const { code, stdout, stderr } = await scene.run([command, '--json']);
  expect({ code, stderr, document: JSON.parse(stdout) }).toEqual({ code: 0, stderr: '', document });
});

/** Answers that last, across processes: each in the host that drivers use, with the words they know. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  calls,
  DRIVEN,
  type Line,
  type Rules,
  type Scene,
  setScene,
  userLine,
} from '../../fakes/skein-process.js';

const RULES: Rules = [
  { match: { toolResult: '/./' }, reply: 'It is done.' },
  { reply: calls('Bash', { command: 'touch made' }) },
];

const isQuestion = ({ type }: Line) => type === 'control_request';
const isResult = ({ type }: Line) => type === 'result';

/** One prompt in a process of its own; `taking` is the suggestion that is taken if it asks. */
const askOnce = async (scene: Scene, flags: readonly string[], taking?: 'session' | 'project') => {
  const process = scene.start([...DRIVEN, ...flags]);
  process.say(userLine('make it'));
  const line = await process.line((any) => isQuestion(any) || isResult(any));
  if (isQuestion(line)) {
    const [session, project] = line.request.permission_suggestions as Line[];
    const updatedPermissions = taking === 'session' ? [session] : [project];
    const { input } = line.request;
    const response =
      taking === undefined
        ? { behavior: 'deny', message: 'Not again.' }
        : { behavior: 'allow', updatedInput: input, updatedPermissions };
    process.say({
      type: 'control_response',
      response: { subtype: 'success', request_id: line.request_id, response },
    });
  }
  const { session_id } = await process.line(isResult);
  process.endInput();
  const { stderr } = await process.ended;
  return { wasAsked: isQuestion(line), session: String(session_id), stderr };
};

describe('an answer for the project', () => {
  const kept = ({ workspace }: Scene) =>
    JSON.parse(readFileSync(join(workspace, '.skein/settings.local.json'), 'utf8'));

  test('holds in the next start of a workspace that is trusted', async () => {
    const scene = await setScene(RULES);
    expect(await askOnce(scene, ['--trust'], 'project')).toMatchObject({ wasAsked: true });
    expect(kept(scene)).toEqual({ permissions: { allow: ['Bash(touch made)'] } });
    expect(await askOnce(scene, ['--trust'])).toMatchObject({ wasAsked: false });
  });

  test('waits for trust where there is none, and says so', async () => {
    const scene = await setScene(RULES);
    const { stderr } = await askOnce(scene, [], 'project');
    expect(stderr).toContain('skein trust');
    expect(kept(scene)).toEqual({ permissions: { allow: ['Bash(touch made)'] } });
    expect(await askOnce(scene, [])).toMatchObject({ wasAsked: true });
    expect(await askOnce(scene, ['--trust'])).toMatchObject({ wasAsked: false });
  });
});

describe('an answer for the session', () => {
  test('holds in the process that resumes it, and in no other session', async () => {
    const scene = await setScene(RULES);
    const { session } = await askOnce(scene, [], 'session');
    expect(await askOnce(scene, ['--resume', session])).toMatchObject({ wasAsked: false });
    const fork = ['--resume', session, '--fork-session'];
    expect(await askOnce(scene, fork)).toMatchObject({ wasAsked: true });
    expect(await askOnce(scene, [])).toMatchObject({ wasAsked: true });
  });
});

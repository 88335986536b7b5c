/** Lasting permission answers across processes, given over stream-json as an SDK program does. */
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

/** Runs a prompt in a new process. A question is answered with suggestion `accepted`, or denied. */
const runPrompt = async (
  scene: Scene,
  flags: readonly string[],
  accepted?: 'session' | 'project',
) => {
  const process = scene.start([...DRIVEN, ...flags]);
  process.say(userLine('make it'));
  const line = await process.line((any) => isQuestion(any) || isResult(any));
  if (isQuestion(line)) {
    const [session, project] = line.request.permission_suggestions as Line[];
    const updatedPermissions = accepted === 'session' ? [session] : [project];
    const { input } = line.request;
    const response =
      accepted === undefined
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
  const localSettings = ({ workspace }: Scene) =>
    JSON.parse(readFileSync(join(workspace, '.skein/settings.local.json'), 'utf8'));

  test('applies to later processes in a trusted workspace', async () => {
    const scene = await setScene(RULES);
    expect(await runPrompt(scene, ['--trust'], 'project')).toMatchObject({ wasAsked: true });
    expect(localSettings(scene)).toEqual({ permissions: { allow: ['Bash(touch made)'] } });
    expect(await runPrompt(scene, ['--trust'])).toMatchObject({ wasAsked: false });
  });

  test('applies to an untrusted workspace only after it is trusted, and stderr says so', async () => {
    const scene = await setScene(RULES);
    const { stderr } = await runPrompt(scene, [], 'project');
    expect(stderr).toContain('skein trust');
    expect(localSettings(scene)).toEqual({ permissions: { allow: ['Bash(touch made)'] } });
    expect(await runPrompt(scene, [])).toMatchObject({ wasAsked: true });
    expect(await runPrompt(scene, ['--trust'])).toMatchObject({ wasAsked: false });
  });
});

describe('an answer for the session', () => {
  test('applies to a process that resumes the session, but not to a copy or a new session', async () => {
    const scene = await setScene(RULES);
    const { session } = await runPrompt(scene, [], 'session');
    expect(await runPrompt(scene, ['--resume', session])).toMatchObject({ wasAsked: false });
    const copy = ['--resume', session, '--fork-session'];
    expect(await runPrompt(scene, copy)).toMatchObject({ wasAsked: true });
    expect(await runPrompt(scene, [])).toMatchObject({ wasAsked: true });
  });
});

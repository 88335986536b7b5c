import { execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/protocol/skein-error.js';
import type { SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import type * as Library from '../../../src/sdk/skein.js';
import { eventually } from '../../fakes/eventually.js';
import { calls, PROGRAM, pidIn, type Rules } from '../../fakes/skein-process.js';
import { allDead } from '../../host/process/processes.js';
import { all, kinds, program, resultOf } from './program.js';
import { subprocessProgram } from './subprocess-program.js';

const allow = () => ({ behavior: 'allow' }) as const;
const SLEEP = 'echo done >> effects; echo $$ > pid; sleep 600';

const TEXT = { encoding: 'utf8' } as const;

describe('an agent in its own process (T8)', () => {
  const script: Rules = [
    { match: { turn: 0 }, reply: calls('Write', { file_path: 'a.txt', content: 'geese' }) },
    { match: { turn: 1 }, reply: calls('Bash', { command: 'cat a.txt > b.txt; cat b.txt' }) },
    {
      match: { turn: 2 },
      reply: calls('AskUser', { question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }),
    },
    { match: { turn: 3 }, reply: calls('Read', { file_path: '/etc/shadow' }) },
    { match: { turn: 4 }, reply: { text: 'Written.', chunkBytes: 4 } },
    { match: { lastUser: 'again' }, reply: 'Once more.' },
  ];

  /** Returns all messages and questions of two runs of a session. */
  const messagesOf = async (subprocess: boolean) => {
    const { options, root } = await program(script);
    const url = pathToFileURL(join(dirname(PROGRAM), 'sdk.js')).href;
    const built: typeof Library = await import(url);
    const seen: unknown[] = [];
    const session = await built.openSession({
      ...options,
      subprocess,
      includePartialMessages: true,
      appendSystemPrompt: 'word '.repeat(400_000),
      title: 'Of geese',
      settings: { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } },
      canUseTool: (question) => {
        seen.push(question);
        if (question.tool === 'Read') throw new Error('I would rather not.');
        return { behavior: 'allow', scope: 'session' };
      },
      onQuestion: (question) => {
        seen.push(question);
        return { chosen: ['b'] };
      },
    });
    for (const prompt of ['go', 'again']) seen.push(...(await all(session.query(prompt))));
    await session.close();
    return bare(seen, root);
  };

  /** Removes progress messages, whose number depends on speed, and values that differ each time. */
  const bare = (seen: readonly unknown[], root: string): unknown => {
    const ids: string[] = [];
    const isSteady = (it: unknown) => (it as SkeinMessage).type !== 'tool_progress';
    const text = JSON.stringify(seen.filter(isSteady), (key, value: unknown) =>
      VARYING.has(key) ? undefined : value,
    );
    const named = text.replaceAll(root, '').replaceAll(/\b(?:toolu|msg|s|a|q)_\w{8,}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `id-${ids.indexOf(id)}`;
    });
    return JSON.parse(named);
  };
  const VARYING = new Set(['uuid', 'duration_ms', 'duration_api_ms', 'inputDigest']);

  test('sends the same messages as an agent in this process', async () => {
    const [here, there] = [await messagesOf(false), await messagesOf(true)];
    expect(there).toEqual(here);
    expect(JSON.stringify(there)).toMatch(/I would rather not.*Once more/);
  });

  test('asks canUseTool, which may change the input', async () => {
    const { ask, workspace } = await subprocessProgram([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch first' }) },
      { reply: 'Done.' },
    ]);
    const canUseTool = () =>
      ({ behavior: 'allow', updatedInput: { command: 'touch second' } }) as const;
    const messages = await all(ask('go', { canUseTool }));
    expect(kinds(messages)).toEqual(expect.arrayContaining(['permission_request', 'tool_call']));
    expect(await readdir(workspace)).toEqual(['second']);
  });

  test('cancels a question when it is interrupted', async () => {
    const { ask } = await subprocessProgram([{ reply: calls('Bash', { command: 'make' }) }]);
    let withdrawn = false;
    const messages = ask('go', {
      canUseTool: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            withdrawn = true;
            resolve({ behavior: 'deny', reason: 'too late' });
          });
          messages.interrupt();
        }),
    });
    expect(await resultOf(messages)).toMatchObject({ stop_reason: 'interrupted' });
    expect(withdrawn).toBe(true);
  });

  test('gets its key from its environment, and has no secret in its arguments', async () => {
    const { ask, processes, simulator } = await subprocessProgram([
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch there' }) },
      { reply: 'Done.' },
    ]);
    let args = '';
    const canUseTool = () => {
      args = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(processes()[0])], TEXT);
      return allow();
    };
    const { is_error } = await resultOf(ask('go', { apiKey: 'sk-very-secret', canUseTool }));
    expect(is_error).toBe(false);
    expect(args.trim()).toMatch(/skein\.cjs __hosted$/);
    expect(args).not.toContain('secret');
    expect(simulator.requests[0]?.headers.authorization).toBe('Bearer sk-very-secret');
  });

  test('refuses invalid options as an agent in this process does', async () => {
    const { ask, options, openSession } = await subprocessProgram();
    await expect(all(ask('hi', { resume: 'nobody' }))).rejects.toThrow(/nobody/);
    await expect(all(ask('hi', { resume: 'nobody' }))).rejects.toBeInstanceOf(UsageError);
    const { apiKey: _, ...keyless } = options;
    await expect(openSession(keyless)).rejects.toThrow(/no API key/);
  });

  test.each([
    ['tools', { tools: [{ kind: 'sdk', name: 'X' }] }, /"tools" are functions.*leave one/],
    ['hooks', { hooks: { Stop: [{ hooks: [allow] }] } }, /"hooks" are functions.*"settings"/],
    ['a word', { subprocess: 'yes' }, /"subprocess"/],
  ])('is refused in one sentence, and not started, with %s', async (_, wrong, sentence) => {
    const { ask, processes } = await subprocessProgram();
    const failed = all(ask('hi', wrong as unknown as QueryOptions));
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
    expect(processes()).toEqual([]);
  });
});

describe('an agent process that is killed (T8)', () => {
  test('ends only its run, and the resumed session repeats no call', async () => {
    const { ask, query, options, workspace, processes } = await subprocessProgram([
      { match: { turn: 0 }, reply: calls('Bash', { command: SLEEP }) },
      { reply: 'Awake.' },
    ]);
    const messages = ask('sleep', { canUseTool: allow });
    const running = all(messages);
    const shell = await eventually('the command runs', () => pidIn(workspace));
    const [pid = 0] = processes();
    process.kill(pid, 'SIGKILL');
    const seen = await running;
    const session_id = messages.sessionId ?? '';
    expect(seen.at(-1)).toMatchObject({
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      session_id,
      result: `The agent's process was ended by SIGKILL; resume session ${session_id} to continue.`,
      stop_reason: 'lost',
      num_turns: 1,
      total_cost_usd: null,
    });
    await eventually('the watchdog has ended its shell', () => allDead([pid, shell]));
    const again = query({ prompt: 'and now?', options: { ...options, resume: session_id } });
    expect(await resultOf(again)).toMatchObject({ result: 'Awake.', session_id });
    expect(await readFile(join(workspace, 'effects'), 'utf8')).toBe('done\n');
    expect(allDead(processes())).toBe(true);
  });

  test('between two prompts is reported with the next prompt and with every later prompt', async () => {
    const { openSession, options, processes } = await subprocessProgram();
    const session = await openSession({ ...options, sessionPersistence: false });
    expect((await resultOf(session.query('hi'))).is_error).toBe(false);
    process.kill(processes()[0] ?? 0, 'SIGKILL');
    for (const prompt of ['one', 'two']) {
      expect(await resultOf(session.query(prompt))).toMatchObject({
        stop_reason: 'lost',
        session_id: session.id,
        result: expect.stringMatching(/SIGKILL; its session was not saved\.$/),
      });
    }
    await session.close();
    await expect(all(session.query('three'))).rejects.toThrow(/closed/);
  });

  test('does not affect other processes', async () => {
    const { ask, processes, workspace } = await subprocessProgram([
      { match: { firstUser: 'sleep' }, reply: calls('Bash', { command: SLEEP }) },
      { match: { turn: 0 }, reply: calls('Bash', { command: 'touch there' }) },
      { reply: 'Here.' },
    ]);
    const killed = resultOf(ask('sleep', { canUseTool: allow }));
    await eventually('the command runs', () => pidIn(workspace));
    const unaffected = resultOf(
      ask('wait', {
        canUseTool: () => {
          process.kill(processes()[0] ?? 0, 'SIGKILL');
          return allow();
        },
      }),
    );
    expect(await killed).toMatchObject({ stop_reason: 'lost' });
    expect(await unaffected).toMatchObject({ stop_reason: 'end_turn', result: 'Here.' });
    expect(allDead(processes())).toBe(true);
  });
});

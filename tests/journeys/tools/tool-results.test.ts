import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, type Reply, resultsIn, STREAM, setScene } from '../../fakes/skein-process.js';

/** Runs the calls of a single message with all permissions. Returns their results. */
const runCalls = async (
  ...tool_use: NonNullable<Extract<Reply['tool_use'], readonly unknown[]>>
) => {
  const scene = await setScene([{ match: { turn: 0 }, reply: { tool_use } }, { reply: 'Done.' }]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const flags = ['--permission-mode', 'bypassPermissions', ...STREAM];
  const ended = await scene.run(['-p', 'go', ...flags]);
  expect(ended).toMatchObject({ code: 0, stderr: '', result: { result: 'Done.' } });
  return { ...scene, ...ended, results: resultsIn(scene.bodies()[1]) };
};

const failure = (text: RegExp) => ({
  is_error: true,
  content: expect.stringMatching(text) as Line,
});

describe('a call that cannot run gets an error result', () => {
  test('if the tool is unknown', async () => {
    const { results } = await runCalls({ name: 'Teleport', input: {} });
    expect(results).toMatchObject([failure(/no tool named "Teleport".*Read, Edit.*Bash/)]);
  });

  test('if its input is not JSON, and is sent back with an empty input', async () => {
    const { results, bodies } = await runCalls({
      name: 'Read',
      input_json: '{"file_path":"notes.txt","limit":[tru',
    });
    expect(results).toMatchObject([failure(/not a JSON object.*"limit":\[tru/)]);
    expect(bodies()[1]?.messages[1].content[0].input).toEqual({});
  });

  test.each(['[1]', '"text"', '7', 'null'])(
    'if its input is not an object: %s',
    async (input_json) => {
      const { results, bodies } = await runCalls({ name: 'Read', input_json });
      expect(results).toMatchObject([failure(/not a JSON object/)]);
      expect(bodies()[1]?.messages[1].content[0].input).toEqual({});
    },
  );

  test('if a field has the wrong type, is missing or is unknown', async () => {
    const { results } = await runCalls(
      { name: 'Read', input: { file_path: 7 } },
      { name: 'Write', input: { file_path: 'x' } },
      { name: 'Bash', input: { command: 'ls', shell: 'fish' } },
    );
    expect(results).toMatchObject([failure(/file_path/), failure(/content/), failure(/shell/)]);
  });

  test('and the other calls of the message still run', async () => {
    const { results } = await runCalls(
      { name: 'Teleport', input: {} },
      { name: 'Read', input: { file_path: 'notes.txt' } },
    );
    expect(results).toMatchObject([
      failure(/Teleport/),
      { content: expect.stringMatching('a note') },
    ]);
  });
});

describe('a command that prints a million bytes', () => {
  test('is shown shortened to its start and end, and stored completely as an artifact', async () => {
    const print = `printf '%0.sé' $(seq 1 500000); echo; echo the end`;
    const { results, skeinHome, result } = await runCalls({
      name: 'Bash',
      input: { command: print },
    });
    const shown = results[0]?.content as string;
    expect(shown.length).toBeLessThanOrEqual(30_000);
    expect(shown.startsWith('éé')).toBe(true);
    expect(shown.trimEnd().endsWith('the end')).toBe(true);
    expect(shown).not.toContain('\uFFFD');
    const artifacts = join(skeinHome, 'sessions', result.session_id, 'artifacts');
    const [name = ''] = (await readdir(artifacts)).filter((file) => file.includes('bash-output'));
    expect(shown).toContain(join(artifacts, name));
    expect(await readFile(join(artifacts, name), 'utf8')).toBe(`${'é'.repeat(500_000)}\nthe end\n`);
  });
});

describe('a shell command', () => {
  test('that fails returns its output and exit code', async () => {
    const { results } = await runCalls({
      name: 'Bash',
      input: { command: 'echo oops >&2; exit 3' },
    });
    expect(results).toMatchObject([failure(/oops[\s\S]*Exit code 3/)]);
  });

  test('does not inherit the API key', async () => {
    const { results } = await runCalls({ name: 'Bash', input: { command: 'env' } });
    expect(results[0]?.content).not.toContain('sk-of-the-test');
  });

  test('passes its working directory on to the next command', async () => {
    const { results } = await runCalls(
      { name: 'Bash', input: { command: 'mkdir inner && cd inner' } },
      { name: 'Bash', input: { command: 'pwd' } },
    );
    expect(results[1]?.content).toMatch(/\/workspace\/inner\n$/);
  });

  test('is stopped after its time-out', async () => {
    const { results } = await runCalls({
      name: 'Bash',
      input: { command: 'sleep 60', timeout: 100 },
    });
    expect(results).toMatchObject([failure(/100 ms/)]);
  });
});

describe('twenty reads of 58 KB in a message', () => {
  const FILES = Array.from({ length: 20 }, (_, at) => `part-${at}.txt`);
  const READS = FILES.map((file_path) => ({ name: 'Read', input: { file_path } }));
  /** A model with a window of 200,000 tokens. */
  const SMALL = ['--model', 'claude-haiku-4-5'];
  const RESUMED: Line = { match: { lastUser: 'and now' }, reply: 'It goes on.' };

  const readAll = async (env: Record<string, string> = {}) => {
    const scene = await setScene([
      RESUMED,
      { match: { lastUser: 'results were removed' }, reply: 'Done.' },
      { match: { turn: 0 }, reply: { tool_use: READS } },
      { reply: 'Done.' },
    ] as Parameters<typeof setScene>[0]);
    const line = `${'x'.repeat(99)}\n`;
    for (const name of FILES) await writeFile(join(scene.workspace, name), line.repeat(580));
    const first = await scene.run(['-p', 'go', ...SMALL, ...STREAM], { env });
    expect([first.code, first.result.result]).toEqual([0, 'Done.']);
    const session = first.result.session_id as string;
    const next = await scene.run(['-p', 'and now', '--resume', session, ...SMALL, ...STREAM]);
    expect([next.code, next.result.result]).toEqual([0, 'It goes on.']);
    return { ...scene, session };
  };

  test('fill at most 40 % of the window: the rest are previews of artifacts, in the same bytes after a resume', async () => {
    const { bodies, skeinHome, session } = await readAll();
    const [, second, third] = bodies();
    const results = resultsIn(second);
    const tokens = Buffer.byteLength(JSON.stringify(results)) / 4;
    expect(tokens).toBeLessThanOrEqual(80_000);
    const previews = results.filter(({ content }) => content.includes('artifacts/'));
    expect(previews).toEqual(results.slice(-previews.length));
    expect(results.length - previews.length).toBe(4);
    const folder = join(skeinHome, 'sessions', session, 'artifacts');
    const kept = (await readdir(folder)).filter((name) => name.endsWith('result.txt'));
    expect(kept).toHaveLength(previews.length);
    for (const { content } of previews) {
      const path = kept.map((name) => join(folder, name)).find((it) => content.includes(it));
      expect((await readFile(path ?? '', 'utf8')).length).toBeGreaterThan(58_000);
    }
    expect(resultsIn({ messages: third?.messages.slice(0, 3) })).toEqual(results);
  });

  test('leave a session usable that holds such a message already', async () => {
    // The wrong window stands for a version that did not bound the results.
    const { journal } = await readAll({ SKEIN_CONTEXT_WINDOW: '10000000' });
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'prompt.broken', reason: 'truncation', dropped: 2 }),
    );
  });
});

describe('calls over the limit of a message', () => {
  test('are refused in order and have no effect, in a sub-agent as in the lead', async () => {
    const tool_use = Array.from({ length: 5 }, (_, at) => ({
      name: 'Bash',
      input: { command: `echo $((${at})) >> ran` },
    }));
    const task = { subagent_type: 'tester', description: 'Work', prompt: 'the child' };
    const scene = await setScene([
      { match: { firstUser: 'the child', turn: 0 }, reply: { tool_use } },
      { match: { firstUser: 'the child' }, reply: 'Done below.' },
      { match: { turn: 0 }, reply: { tool_use } },
      { match: { turn: 1 }, reply: { tool_use: [{ name: 'Task', input: task }] } },
      { reply: 'Done.' },
    ]);
    const flags = ['--permission-mode', 'bypassPermissions', ...STREAM];
    const env = { SKEIN_MAX_CALLS_PER_MESSAGE: '3' };
    const { code, result } = await scene.run(['-p', 'go', ...flags], { env });
    expect([code, result.result]).toEqual([0, 'Done.']);
    expect(await readFile(join(scene.workspace, 'ran'), 'utf8')).toBe('0\n1\n2\n'.repeat(2));
    const answered = scene.bodies().flatMap((body) => {
      const results = resultsIn(body);
      return results.length === 5 ? [results] : [];
    });
    expect(answered).toHaveLength(2);
    for (const results of answered) {
      expect(results.map(({ is_error }) => is_error === true)).toEqual([
        ...Array(3).fill(false),
        ...Array(2).fill(true),
      ]);
      expect(results[3]?.content).toMatch(/at most 3 calls \(skein\.maxCallsPerMessage\)/);
    }
  });
});

describe('a hundred calls in a message', () => {
  test('are all answered in order', async () => {
    const reads = Array.from({ length: 100 }, (_, index) => ({
      name: 'Read',
      input: { file_path: index % 10 === 0 ? `absent-${index}` : 'notes.txt' },
    }));
    const { results, bodies } = await runCalls(...reads);
    const asked = bodies()[1]?.messages[1].content.map(({ id }: Line) => id);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(asked);
    expect(results.filter(({ is_error }) => is_error === true)).toHaveLength(10);
  });
});

describe('files', () => {
  test('are read, edited and written in a run', async () => {
    const { run, workspace, bodies } = await setScene([
      {
        replies: [
          { tool_use: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
          {
            tool_use: [
              {
                name: 'Edit',
                input: { file_path: 'notes.txt', old_string: 'a note', new_string: 'an edit' },
              },
              { name: 'Write', input: { file_path: 'deep/new.txt', content: 'new\n' } },
            ],
          },
          { text: 'Done.' },
        ],
      },
    ]);
    await writeFile(join(workspace, 'notes.txt'), 'a note\r\n');
    await run(['-p', 'go', '--permission-mode', 'acceptEdits']);
    expect(await readFile(join(workspace, 'notes.txt'), 'utf8')).toBe('an edit\r\n');
    expect(await readFile(join(workspace, 'deep/new.txt'), 'utf8')).toBe('new\n');
    expect(resultsIn(bodies()[2]).map(({ is_error }) => is_error)).toEqual([undefined, undefined]);
  });

  test('cannot be edited before they are read', async () => {
    const { results } = await runCalls({
      name: 'Edit',
      input: { file_path: 'notes.txt', old_string: 'a note', new_string: 'x' },
    });
    expect(results).toMatchObject([failure(/[Rr]ead/)]);
  });
});

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, type Reply, resultsIn, STREAM, setScene } from '../../fakes/skein-process.js';

/** One message of calls, all of them allowed, and what came back for each. */
const call = async (...tool_use: NonNullable<Extract<Reply['tool_use'], readonly unknown[]>>) => {
  const scene = await setScene([{ match: { turn: 0 }, reply: { tool_use } }, { reply: 'Done.' }]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const flags = ['--permission-mode', 'bypassPermissions', ...STREAM];
  const ended = await scene.run(['-p', 'go', ...flags]);
  expect(ended).toMatchObject({ code: 0, stderr: '', result: { result: 'Done.' } });
  return { ...scene, ...ended, results: resultsIn(scene.bodies()[1]) };
};

const failed = (said: RegExp) => ({ is_error: true, content: expect.stringMatching(said) as Line });

describe('a call that cannot run is explained to the model', () => {
  test('when there is no such tool', async () => {
    const { results } = await call({ name: 'Teleport', input: {} });
    expect(results).toMatchObject([failed(/no tool named "Teleport".*Read, Edit.*Bash/)]);
  });

  test('when its input is not JSON, and goes back on the wire as an empty object', async () => {
    const { results, bodies } = await call({
      name: 'Read',
      input_json: '{"file_path":"notes.txt","limit":[tru',
    });
    expect(results).toMatchObject([failed(/not a JSON object.*"limit":\[tru/)]);
    expect(bodies()[1]?.messages[1].content[0].input).toEqual({});
  });

  test.each(['[1]', '"text"', '7', 'null'])(
    'when its input is no object: %s',
    async (input_json) => {
      const { results, bodies } = await call({ name: 'Read', input_json });
      expect(results).toMatchObject([failed(/not a JSON object/)]);
      expect(bodies()[1]?.messages[1].content[0].input).toEqual({});
    },
  );

  test('when a field has the wrong type, is missing or is unknown', async () => {
    const { results } = await call(
      { name: 'Read', input: { file_path: 7 } },
      { name: 'Write', input: { file_path: 'x' } },
      { name: 'Bash', input: { command: 'ls', shell: 'fish' } },
    );
    expect(results).toMatchObject([failed(/file_path/), failed(/content/), failed(/shell/)]);
  });

  test('and does not keep its neighbours from running', async () => {
    const { results } = await call(
      { name: 'Teleport', input: {} },
      { name: 'Read', input: { file_path: 'notes.txt' } },
    );
    expect(results).toMatchObject([
      failed(/Teleport/),
      { content: expect.stringMatching('a note') },
    ]);
  });
});

describe('a command that prints a million bytes', () => {
  test('is shown from both ends, and kept whole as an artifact', async () => {
    const print = `printf '%0.sé' $(seq 1 500000); echo; echo the end`;
    const { results, skeinHome, result } = await call({ name: 'Bash', input: { command: print } });
    const said = results[0]?.content as string;
    expect(said.length).toBeLessThanOrEqual(30_000);
    expect(said.startsWith('éé')).toBe(true);
    expect(said.trimEnd().endsWith('the end')).toBe(true);
    expect(said).not.toContain('\uFFFD');
    const artifacts = join(skeinHome, 'sessions', result.session_id, 'artifacts');
    const [name = ''] = (await readdir(artifacts)).filter((file) => file.includes('bash-output'));
    expect(said).toContain(join(artifacts, name));
    expect(await readFile(join(artifacts, name), 'utf8')).toBe(`${'é'.repeat(500_000)}\nthe end\n`);
  });
});

describe('a command', () => {
  test('that fails says how', async () => {
    const { results } = await call({ name: 'Bash', input: { command: 'echo oops >&2; exit 3' } });
    expect(results).toMatchObject([failed(/oops[\s\S]*Exit code 3/)]);
  });

  test('inherits no secrets', async () => {
    const { results } = await call({ name: 'Bash', input: { command: 'env' } });
    expect(results[0]?.content).not.toContain('sk-of-the-test');
  });

  test('leaves its directory to the next', async () => {
    const { results } = await call(
      { name: 'Bash', input: { command: 'mkdir inner && cd inner' } },
      { name: 'Bash', input: { command: 'pwd' } },
    );
    expect(results[1]?.content).toMatch(/\/workspace\/inner\n$/);
  });

  test('that runs for too long is stopped', async () => {
    const { results } = await call({ name: 'Bash', input: { command: 'sleep 60', timeout: 100 } });
    expect(results).toMatchObject([failed(/100 ms/)]);
  });
});

describe('a hundred calls in one message', () => {
  test('are all answered, in their order', async () => {
    const reads = Array.from({ length: 100 }, (_, index) => ({
      name: 'Read',
      input: { file_path: index % 10 === 0 ? `absent-${index}` : 'notes.txt' },
    }));
    const { results, bodies } = await call(...reads);
    const asked = bodies()[1]?.messages[1].content.map(({ id }: Line) => id);
    expect(results.map(({ tool_use_id }) => tool_use_id)).toEqual(asked);
    expect(results.filter(({ is_error }) => is_error === true)).toHaveLength(10);
  });
});

describe('files', () => {
  test('are read, edited and written through a whole run', async () => {
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

  test('that were not read first are not edited', async () => {
    const { results } = await call({
      name: 'Edit',
      input: { file_path: 'notes.txt', old_string: 'a note', new_string: 'x' },
    });
    expect(results).toMatchObject([failed(/[Rr]ead/)]);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calls, type Rules, type Scene, setScene } from '../../fakes/skein-process.js';

const execute = promisify(execFile);
const TSC = resolve('node_modules/typescript/bin/tsc');

/** Code blocks of docs/sdk.md by file name. Each block is a complete program. */
const docPrograms = () => {
  const blocks = readFileSync('docs/sdk.md', 'utf8').matchAll(
    /^```ts\n([^`]*(?:`[^`]+`[^`]*)*?)^```$/gm,
  );
  return Object.fromEntries([...blocks].map(([, code = ''], at) => [`doc-${at + 1}.ts`, code]));
};

/** Folder of a program that uses the package: the unpacked tarball and its dependencies. */
let consumer = '';

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'consumer-'));
  const packed = ['pack', '--ignore-scripts', '--json', '--pack-destination', consumer];
  const { stdout } = await execute('npm', packed);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const place = join(consumer, 'node_modules/skein');
  await mkdir(place, { recursive: true });
  await execute('tar', ['-xzf', join(consumer, filename), '-C', place, '--strip-components=1']);
  const { dependencies } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    const link = join(consumer, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(resolve('node_modules', name), link);
  }
  await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
  await cp('examples', consumer, { recursive: true });
  for (const [name, code] of Object.entries({ ...docPrograms(), ...PROGRAMS })) {
    await writeFile(join(consumer, name), code);
  }
});
afterAll(() => rm(consumer, { recursive: true, force: true }));

const compile = (moduleResolution: 'nodenext' | 'bundler') => {
  const isNode = moduleResolution === 'nodenext';
  const files = [...Object.keys({ ...docPrograms(), ...PROGRAMS }), ...EXAMPLES];
  const options = [
    '--ignoreConfig',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--target',
    'es2022',
    '--skipLibCheck',
    'false',
    '--types',
    'node',
    '--lib',
    'es2023,esnext.disposable',
    '--module',
    isNode ? 'nodenext' : 'esnext',
    '--moduleResolution',
    moduleResolution,
    '--outDir',
    'out',
  ];
  return execute(process.execPath, [TSC, ...options, ...files], { cwd: consumer }).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
};

const EXAMPLES = ['01-ask.ts', '02-custom-tool.ts', '03-session-reuse.ts'];

const PROGRAMS = {
  // A test of the types: the compiler must reject each line below a `@ts-expect-error`.
  'types.ts': `
    import { type Query, query, type SkeinMessage, tool, UsageError, z } from 'skein';
    export const told = (message: SkeinMessage): string => {
      switch (message.type) {
        case 'system': return message.subtype;
        case 'assistant': return message.message.content.length.toFixed();
        case 'user': return message.message.content[0]?.tool_use_id ?? '';
        case 'stream_event': return message.event.type;
        case 'tool_call': return message.name;
        case 'tool_progress': return message.note;
        case 'permission_request': return message.request.tool;
        case 'result': return message.result;
        default: return message satisfies never;
      }
    };
    export const typed = tool({
      name: 'T', description: 'T.', input: z.object({ n: z.number() }),
      run: ({ n }) => n.toFixed(),
    });
    export const plain = tool({
      name: 'P', description: 'P.', input: { type: 'object' }, run: (input) => String(input['x']),
    });
    // @ts-expect-error: a number is no answer
    tool({ name: 'W', description: 'W.', input: z.object({}), run: () => 7 });
    export const begun: Query = query({ prompt: 'hi', options: { tools: [typed, plain] } });
    // @ts-expect-error: there is no such option
    query({ prompt: 'hi', options: { allowTools: [] } });
    // @ts-expect-error: there is no such mode
    query({ prompt: 'hi', options: { permissionMode: 'yolo' } });
    export const isOurs = (error: unknown): boolean => error instanceof UsageError;
  `,
  'quiet.ts': `
    import { query } from 'skein';
    const canUseTool = () => ({ behavior: 'allow' }) as const;
    for await (const _ of query({ prompt: 'be quiet', options: { canUseTool } })) { /* nothing */ }
  `,
  'leaves.ts': `
    import { query } from 'skein';
    const canUseTool = () => ({ behavior: 'allow' }) as const;
    for await (const { type } of query({ prompt: 'sleep', options: { canUseTool } })) {
      if (type === 'tool_call') break;
    }
    console.log('left');
  `,
  'takes-over.ts': `
    import { type CanUseTool, query } from 'skein';
    const canUseTool: CanUseTool = async (question, { signal }) => {
      const { tool, risk, blockedPath, suggestions, cwd, agent } = question;
      const known = cwd !== '' && agent !== '' && !signal.aborted;
      console.log(JSON.stringify({ tool, risk, blockedPath, suggestions, known }));
      Object.assign(question.input as object, { command: 'touch changed-behind-our-back' });
      return tool === 'Bash'
        ? { behavior: 'allow', scope: 'session', updatedInput: { command: 'touch second' } }
        : { behavior: 'deny', reason: 'Not there.' };
    };
    for await (const message of query({ prompt: 'take over', options: { canUseTool } })) {
      if (message.type === 'result') console.log(JSON.stringify(message.permission_denials));
    }
  `,
};

const RULES: Rules = [
  { match: { lastUser: 'What does this project do' }, reply: 'It counts birds.' },
  {
    match: { lastUser: 'How many geese were seen today' },
    reply: {
      tool_use: [
        { name: 'CountBirds', input: { kind: 'goose' } },
        { name: 'CountBirds', input: { kind: 'swan' } },
      ],
    },
  },
  { match: { lastUser: 'How many geese' }, reply: calls('CountBirds', { kind: 'goose' }) },
  { match: { lastUser: 'Run the tests' }, reply: calls('Bash', { command: 'npm test -- all' }) },
  {
    match: { lastUser: 'be quiet' },
    reply: calls('Bash', { command: 'echo loud; echo loud >&2' }),
  },
  {
    match: { lastUser: 'take over' },
    reply: {
      tool_use: [
        { name: 'Bash', input: { command: 'touch first' } },
        { name: 'Write', input: { file_path: '/opt/never', content: '' } },
      ],
    },
  },
  { match: { lastUser: '/^sleep$/' }, reply: calls('Bash', { command: 'sleep 600' }) },
  { match: { toolResult: '/./' }, reply: '{{toolResult}}' },
  {
    match: { lastUser: 'thousand times' },
    reply: { text: 'goose goose', stall: { afterEvents: 3 } },
  },
  { match: { lastUser: 'capitals' }, reply: 'GOOSE' },
  { reply: 'Yes: the goose.' },
];

/** Runs a compiled program until it exits. */
const run = async (file: string, { simulator, home, workspace, tmp }: Scene) => {
  const { PATH } = process.env;
  const env = { PATH, HOME: home, TMPDIR: tmp };
  const model = { ANTHROPIC_BASE_URL: simulator.url, ANTHROPIC_API_KEY: 'simulated' };
  const program = join(consumer, 'out', file.replace('.ts', '.js'));
  return execute(process.execPath, [program], {
    cwd: workspace,
    env: { ...env, ...model },
    timeout: 60_000,
  });
};

describe('the package', () => {
  test('contains only the needed files', async () => {
    const listed = await readdir(join(consumer, 'node_modules/skein'));
    expect(listed.sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'agents',
      'dist',
      'package.json',
    ]);
    const dist = await readdir(join(consumer, 'node_modules/skein/dist'));
    expect(dist.filter((name) => name !== '.inputs').sort()).toEqual([
      'chunks',
      'keep-code.cjs',
      `program-${process.version}-${process.arch}.cache`,
      'program.cjs',
      'redis.cjs',
      'screen.cjs',
      'sdk.js',
      'shard-thread.cjs',
      'skein.cjs',
      'types',
      'watchdog.cjs',
    ]);
  });

  test.each(['bundler', 'nodenext'] as const)(
    'has types that compile in a strict program with module resolution %s',
    async (moduleResolution) => {
      expect(await compile(moduleResolution)).toBe('');
    },
  );

  test('can be imported by its own name from its own folder', async () => {
    const code = "import('skein').then(({ query }) => console.log(typeof query))";
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code]);
    expect(stdout).toBe('function\n');
  });
});

describe('a program that uses the package', () => {
  test.each([
    ['01-ask.ts', /It counts birds\.\n1 turns, \$0\.\d+/],
    ['02-custom-tool.ts', /\? CountBirds.*12 of the kind goose were seen/s],
    ['03-session-reuse.ts', /end_turn: Yes.*interrupted: .*end_turn: .*GOOSE/s],
    ['doc-1.ts', /^It counts birds\.\nend_turn 0\.\d+\n$/],
    ['doc-2.ts', /^12 of the kind goose were seen\.\n$/],
    ['doc-3.ts', /Bash npm test -- all\?.*Only the tests may be run/s],
    ['doc-4.ts', /^(end_turn Yes: the goose\.\n){2}Yes: the goose\.\n$/],
    ['doc-5.ts', /^end_turn It counts birds\.\n$/],
  ])('%s prints its result and exits', async (file, expected) => {
    const { stdout, stderr } = await run(file, await setScene(RULES));
    expect(stdout).toMatch(expected);
    expect(stderr).toBe('');
  });

  test('gets no output of Skein or of its commands on stdout or stderr', async () => {
    const scene = await setScene(RULES);
    expect(await run('quiet.ts', scene)).toEqual({ stdout: '', stderr: '' });
    expect(JSON.stringify(await scene.journal())).toContain('loud');
  });

  test('answers permission questions, and cannot change the input by mutating the question', async () => {
    const scene = await setScene(RULES);
    const { stdout } = await run('takes-over.ts', scene);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        tool: 'Bash',
        risk: 'medium',
        known: true,
        suggestions: [
          { scope: 'session', rule: 'Bash(touch first)' },
          { scope: 'project', rule: 'Bash(touch first)' },
        ],
      },
      expect.objectContaining({ tool: 'Write', risk: 'high', blockedPath: '/opt/never' }),
      [expect.objectContaining({ tool_name: 'Write' })],
    ]);
    expect(await readdir(scene.workspace)).toEqual(['second']);
    const rulings = (await scene.journal()).filter(({ type }) => type === 'call.ruled');
    expect(rulings).toContainEqual(
      expect.objectContaining({ by: 'sdk', granted: 'Bash(touch second)' }),
    );
  });

  test('exits after it leaves the message loop, and the run ends as interrupted', async () => {
    const scene = await setScene(RULES);
    expect((await run('leaves.ts', scene)).stdout).toBe('left\n');
    expect((await scene.journal()).at(-1)).toMatchObject({
      type: 'run.ended',
      reason: 'interrupted',
    });
  });

  test('creates a session that `skein sessions` lists', async () => {
    const scene = await setScene(RULES);
    await run('doc-1.ts', scene);
    const { stdout } = await scene.run(['sessions', '--json']);
    expect(stdout).toContain('What does this project do?');
  });
});

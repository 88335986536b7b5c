import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UsageError } from '../../../src/protocol/skein-error.js';
import { type Tool, ToolFailure } from '../../../src/protocol/tools/tool.js';
import {
  type CustomToolAnswer,
  type CustomToolContext,
  customTool,
} from '../../../src/sdk/api/custom-tool.js';
import type { SkeinMessage } from '../../../src/sdk/api/messages/skein-message.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { eventually } from '../../fakes/eventually.js';
import { calls } from '../../fakes/skein-process.js';
import { all, program, resultOf, toolTexts } from './program.js';

const input = z.object({ bird: z.string() });
const allow = () => ({ behavior: 'allow' }) as const;

/** A tool named Call with the given behaviour. */
const called = (
  run: (input: { bird: string }, context: CustomToolContext) => unknown,
  more: Partial<Parameters<typeof customTool<typeof input>>[0]> = {},
): Tool =>
  customTool({
    name: 'Call',
    description: 'Calls a bird.',
    input,
    run: run as () => CustomToolAnswer,
    ...more,
  });

/** Returns the messages of a run in which the model calls the tool once. */
const use = async (
  own: Tool,
  options: QueryOptions = { canUseTool: allow },
  given: Record<string, unknown> = { bird: 'goose' },
): Promise<readonly SkeinMessage[]> => {
  const { ask } = await program([
    { match: { turn: 0 }, reply: calls('Call', given) },
    { reply: 'Called.' },
  ]);
  return all(ask('call', { ...options, tools: [own] }));
};

describe('a tool of the program', () => {
  test('is listed after the built-in tools, and its answer is the result', async () => {
    const { ask, bodies } = await program([
      { match: { turn: 0 }, reply: calls('Call', { bird: 'goose' }) },
      { reply: 'Called.' },
    ]);
    const messages = await all(
      ask('call', { tools: [called(({ bird }) => `${bird}: honk`)], canUseTool: allow }),
    );
    expect(toolTexts(messages)).toEqual(['goose: honk']);
    expect(bodies()[0]?.tools.at(-1)).toEqual({
      name: 'Call',
      description: 'Calls a bird.',
      input_schema: {
        type: 'object',
        properties: { bird: { type: 'string' } },
        required: ['bird'],
      },
    });
  });

  test('has the same description for people with different temporary directories (P23)', async () => {
    const { ask, bodies } = await program([{ reply: 'Fine.' }]);
    const own = called(() => '', { description: `Writes to ${tmpdir()}/birds.txt.` });
    await all(ask('call', { tools: [own] }));
    expect(bodies()[0]?.tools.at(-1).description).toBe('Writes to $TMPDIR/birds.txt.');
  });

  test.each([
    ['blocks', [{ type: 'text', text: 'honk' }], '[{"type":"text","text":"honk"}]'],
    ['a failure', { content: 'silence', isError: true }, 'error: silence'],
    ['an empty string', '', ''],
  ])('may answer with %s', async (_, answer, expected) => {
    expect(toolTexts(await use(called(() => answer)))).toEqual([expected]);
  });

  test.each([
    ['an error', () => Promise.reject(new Error('no bird')), /^error: Call failed: no bird$/],
    [
      'a ToolFailure',
      () => {
        throw new ToolFailure('Try a swan.');
      },
      /^error: Try a swan\.$/,
    ],
    [
      'a value without text',
      () => {
        throw Object.create(null);
      },
      /without a message/,
    ],
  ])('that throws %s reports the error, and the run continues', async (_, run, expected) => {
    const messages = await use(called(run));
    const [text = ''] = toolTexts(messages);
    expect(text).toMatch(expected);
    expect(messages.at(-1)).toMatchObject({ subtype: 'success' });
  });

  test.each([
    ['undefined', undefined],
    ['a number', 42],
    ['a block of an unknown kind', [{ type: 'video' }]],
    [
      'an invalid image',
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '<svg>' } }],
    ],
    ['more than 100 blocks', Array.from({ length: 101 }, () => ({ type: 'text', text: 'a' }))],
    [
      'an object that throws',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('boo');
          },
        },
      ),
    ],
  ])(
    'that answers with %s has failed, and the history stays valid for the next request',
    async (_, answer) => {
      const messages = await use(called(() => answer));
      expect(toolTexts(messages)[0]).toMatch(/^error: Call (ran, but|failed)/);
      expect(messages.at(-1)).toMatchObject({ subtype: 'success' });
    },
  );

  test('has lone surrogates in its text replaced', async () => {
    expect(toolTexts(await use(called(() => 'a\ud83e')))).toEqual(['a\ufffd']);
  });

  test('never gets input that its schema refuses', async () => {
    const seen: unknown[] = [];
    const own = called((given) => seen.push(given));
    const messages = await use(own, { canUseTool: allow }, { bird: 7 });
    expect(toolTexts(messages)[0]).toMatch(/^error: The input of Call is not valid.*"bird"/);
    expect(seen).toEqual([]);
  });

  test('gets the directory of the agent and can report progress', async () => {
    const messages = await use(
      called((_, { cwd, progress }) => {
        progress('half way');
        return cwd;
      }),
    );
    expect(messages).toContainEqual(
      expect.objectContaining({ type: 'tool_progress', note: 'half way' }),
    );
    expect(messages[0]).toMatchObject({ cwd: toolTexts(messages)[0] });
  });

  test('that never answers does not block an interrupt', async () => {
    let isCalled = false;
    const { ask, journal } = await program([{ reply: calls('Call', { bird: 'goose' }) }]);
    const own = called(() => {
      isCalled = true;
      return new Promise(() => {});
    });
    const messages = ask('call', { tools: [own], canUseTool: allow });
    const running = resultOf(messages);
    await eventually('the tool is called', () => isCalled);
    messages.interrupt();
    await expect(running).resolves.toMatchObject({ stop_reason: 'interrupted' });
    expect(await journal()).toContainEqual(
      expect.objectContaining({ type: 'call.ended', outcome: 'interrupted' }),
    );
  });
});

describe('the tools of a resumed session', () => {
  test('are the tools that it started with, with notices about differences', async () => {
    const { ask, options, bodies } = await program();
    const old = called(() => 'honk');
    const { session_id: resume } = await resultOf(ask('hi', { tools: [old] }));
    const same = await all(ask('again', { resume, tools: [old] }));
    expect(noticesIn(same)).toEqual([]);
    const other = await all(
      ask('and again', { resume, tools: [called(() => '', { name: 'New' })] }),
    );
    expect(noticesIn(other)).toEqual([
      'A session keeps its tools, so the model is not shown: New.',
      'The session was started with tools that do not exist here: Call.',
    ]);
    expect(other[0]).toMatchObject({ tools: expect.arrayContaining(['Call']) });
    const [first, , third] = bodies().map(({ tools }) => JSON.stringify(tools));
    expect(third).toBe(first);
    expect(options.tools).toBeUndefined();
  });
});

const noticesIn = (messages: readonly SkeinMessage[]) =>
  messages.flatMap((it) => (it.type === 'system' && it.subtype === 'notice' ? [it.text] : []));

describe('the permission to call a tool of the program', () => {
  const honk = () => called(() => 'honk');

  test('is asked for, even if the tool is read-only', async () => {
    const asked: string[] = [];
    const canUseTool: QueryOptions['canUseTool'] = ({ tool: name, reason }) => {
      asked.push(`${name}: ${reason}`);
      return { behavior: 'allow' };
    };
    await use(
      called(() => 'honk', { readOnly: true }),
      { canUseTool },
    );
    expect(asked).toEqual(['Call: No rule and no mode allows Call.']);
  });

  test('is denied without a callback, and the reason names the rule that would allow the call', async () => {
    const messages = await use(honk(), {});
    expect(toolTexts(messages)[0]).toMatch(/^error: .*"Call"/);
    expect(messages.at(-1)).toMatchObject({ permission_denials: [{ tool_name: 'Call' }] });
  });

  test('is given by a rule with its name, or with the subject of the call', async () => {
    const about = () => called(() => 'honk', { subject: ({ bird }) => bird });
    expect(toolTexts(await use(honk(), { allowedTools: ['Call'] }))).toEqual(['honk']);
    expect(toolTexts(await use(about(), { allowedTools: ['Call(goose)'] }))).toEqual(['honk']);
    expect(toolTexts(await use(about(), { allowedTools: ['Call(swan)'] }))[0]).toMatch(/^error/);
  });

  test.each([
    ['its name', ['Call']],
    ['the subject of the call', ['Call(goose)']],
  ])(
    'is refused by a deny rule for %s, even if the callback allows',
    async (_, disallowedTools) => {
      const own = called(() => 'honk', { subject: ({ bird }) => bird });
      const messages = await use(own, { canUseTool: allow, disallowedTools });
      expect(toolTexts(messages)[0]).toMatch(/^error: Denied by/);
    },
  );

  test('is refused if the subject of the call is unknown', async () => {
    const subject = () => {
      throw new Error('lost');
    };
    const own = called(() => 'honk', { subject });
    const messages = await use(own, { canUseTool: allow, permissionMode: 'bypassPermissions' });
    expect(toolTexts(messages)[0]).toMatch(/^error: .*could not be determined/);
  });

  test.each(['rm -rf /', '.env', '/etc/passwd', 'cat .env; curl x'])(
    'does not treat %j as a command or a path',
    async (bird) => {
      const own = called(() => 'honk', { subject: (it) => it.bird });
      const deny = ['Read(.env)', 'Bash(rm:*)', 'Edit(/etc/**)', 'Read(//etc/**)'];
      const options = { allowedTools: ['Call'], disallowedTools: deny };
      expect(toolTexts(await use(own, options, { bird }))).toEqual(['honk']);
    },
  );

  test('for the session is remembered', async () => {
    let asked = 0;
    const { ask } = await program([
      { match: { turn: { max: 2 } }, reply: calls('Call', { bird: 'goose' }) },
      { reply: 'Called.' },
    ]);
    const canUseTool = () => {
      asked += 1;
      return { behavior: 'allow', scope: 'session' } as const;
    };
    const messages = await all(
      ask('call', { tools: [called(() => 'honk', { polls: true })], canUseTool }),
    );
    expect(toolTexts(messages)).toEqual(['honk', 'honk', 'honk']);
    expect(asked).toBe(1);
  });
});

describe('a callback for permissions', () => {
  test.each([
    ['denies', () => ({ behavior: 'deny', reason: 'Not this bird.' }), /^error: Not this bird\.$/],
    ['denies without a reason', () => ({ behavior: 'deny' }), /^error: The call was denied\.$/],
    ['changes the input', () => ({ behavior: 'allow', updatedInput: { bird: 'swan' } }), /^swan$/],
    ['sets an invalid input', () => ({ behavior: 'allow', updatedInput: 7 }), /^error: The input/],
    [
      'throws',
      () => {
        throw new Error('asleep');
      },
      /^error: .*asleep/,
    ],
    ['returns an invalid answer', () => 'yes', /^error: canUseTool returned neither/],
    ['returns undefined', () => undefined, /^error: canUseTool returned neither/],
  ])('that %s decides the call', async (_, canUseTool, expected) => {
    const options = { canUseTool: canUseTool as unknown as QueryOptions['canUseTool'] };
    const messages = await use(
      called(({ bird }) => bird),
      options as QueryOptions,
    );
    const [text = ''] = toolTexts(messages);
    expect(text).toMatch(expected);
  });

  test('gets the exact input, and can end the whole run', async () => {
    const canUseTool: QueryOptions['canUseTool'] = () => ({
      behavior: 'deny',
      reason: 'Enough.',
      interrupt: true,
    });
    const messages = await use(
      called(() => 'honk'),
      { canUseTool },
    );
    expect(messages.find(({ type }) => type === 'permission_request')).toMatchObject({
      request: { tool: 'Call', input: { bird: 'goose' } },
    });
    expect(messages.at(-1)).toMatchObject({
      stop_reason: 'denied',
      result: expect.stringContaining('Enough.'),
    });
  });

  test('that hangs is cancelled by an abort through its signal', async () => {
    const { ask } = await program([{ reply: calls('Call', { bird: 'goose' }) }]);
    const controller = new AbortController();
    let withdrawn: AbortSignal | undefined;
    const running = resultOf(
      ask('call', {
        tools: [called(() => 'honk')],
        signal: controller.signal,
        canUseTool: (_, { signal }) => {
          withdrawn = signal;
          return new Promise(() => {});
        },
      }),
    );
    await eventually('the question is asked', () => withdrawn !== undefined);
    controller.abort();
    await expect(running).resolves.toMatchObject({ stop_reason: 'interrupted' });
    expect(withdrawn?.aborted).toBe(true);
  });

  test('decides about built-in tools too', async () => {
    const { ask, workspace } = await program([
      { match: { turn: 0 }, reply: calls('Write', { file_path: 'a.txt', content: 'b' }) },
      { reply: 'Done.' },
    ]);
    await writeFile(join(workspace, 'b.txt'), '');
    const asked: string[] = [];
    const canUseTool: QueryOptions['canUseTool'] = ({ description }) => {
      asked.push(description);
      return { behavior: 'deny', reason: 'No.' };
    };
    expect(toolTexts(await all(ask('write', { canUseTool })))).toEqual(['error: No.']);
    expect(asked).toEqual(['Write a.txt']);
  });
});

describe('a definition', () => {
  const good = { name: 'Call', description: 'Calls.', input, run: () => '' };

  test.each([
    ['a name with a space', { name: 'a bird' }, /cannot be the name of a tool/],
    ['a name that is too long', { name: 'x'.repeat(65) }, /cannot be the name of a tool/],
    ['a name of an MCP server', { name: 'mcp__geese__call' }, /MCP servers/],
    ['no description', { description: ' ' }, /needs a description/],
    ['no function', { run: undefined }, /needs a function/],
    ['no schema', { input: undefined }, /The input of the tool "Call"/],
    ['a schema of a list', { input: z.array(z.string()) }, /does not describe an object/],
    ['JSON Schema of a text', { input: { type: 'string' } }, /does not describe an object/],
    [
      'a schema without a JSON representation',
      { input: z.object({ a: z.date() }) },
      /cannot be used/,
    ],
  ])('with %s is refused at once', (_, wrong, sentence) => {
    const define = () => customTool({ ...good, ...wrong } as typeof good);
    expect(define).toThrow(UsageError);
    expect(define).toThrow(sentence);
  });

  test.each(['Read', 'Bash'])('may not take the name of %s', async (name) => {
    const { ask } = await program();
    const failed = all(ask('hi', { tools: [customTool({ ...good, name })] }));
    await expect(failed).rejects.toThrow(`Two tools are named "${name}"`);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
  });

  test('may not be given twice', async () => {
    const { ask } = await program();
    await expect(all(ask('hi', { tools: [customTool(good), customTool(good)] }))).rejects.toThrow(
      UsageError,
    );
  });
});

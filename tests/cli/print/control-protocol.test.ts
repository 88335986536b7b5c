import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ControlProtocol } from '../../../src/cli/print/control-protocol.js';
import type {
  PermissionQuestion,
  PersonQuestion,
} from '../../../src/protocol/permission/permission-question.js';

/** Both ends of a driver's pipe, and all output. */
const pipe = () => {
  const input = new PassThrough();
  const written: unknown[] = [];
  const prompts: unknown[] = [];
  const notices: string[] = [];
  let interrupts = 0;
  const control = new ControlProtocol((line) => written.push(JSON.parse(line)));
  const shutdown = new AbortController();
  const handlers = {
    prompt: (blocks: string) => void prompts.push(JSON.parse(blocks)),
    interrupt: () => {
      interrupts += 1;
    },
    notify: (sentence: string) => void notices.push(sentence),
  };
  const ended = control.read(input, handlers, shutdown.signal);
  const send = (...lines: readonly unknown[]) => {
    for (const line of lines) input.write(`${JSON.stringify(line)}\n`);
  };
  const end = async () => {
    input.end();
    await ended;
    return { written, prompts, notices, interrupts };
  };
  return { control, input, send, end, ended, shutdown, written };
};

const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });

const question: PermissionQuestion = {
  id: 'q_1',
  agent: 'a_1',
  call: 'toolu_1',
  tool: 'Bash',
  input: { command: 'ls' },
  inputDigest: 'digest',
  cwd: '/repo',
  risk: 'medium',
  description: 'Bash ls',
  reason: 'No rule.',
};

const answer = (response: unknown, subtype = 'success') => ({
  type: 'control_response',
  response: { subtype, request_id: 'q_1', response },
});

const never = new AbortController().signal;

describe('a user line', () => {
  test.each([
    ['text', 'hello', [{ type: 'text', text: 'hello' }]],
    ['blocks', [{ type: 'text', text: 'a' }], [{ type: 'text', text: 'a' }]],
    [
      'images beside text',
      [{ type: 'image', source: { type: 'url', url: 'x' } }],
      [{ type: 'image', source: { type: 'url', url: 'x' } }],
    ],
    ['a lone surrogate', '\ud83e', [{ type: 'text', text: '\ufffd' }]],
    [
      'cache breakpoints, which are removed',
      [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
      [{ type: 'text', text: 'a' }],
    ],
  ])('is a prompt of %s', async (_, content, blocks) => {
    const { send, end } = pipe();
    send(user(content));
    expect(await end()).toMatchObject({ prompts: [blocks], notices: [] });
  });

  test.each([
    ['no text', ''],
    ['only white space', ' \n'],
    ['no blocks', []],
    ['a blank block', [{ type: 'text', text: '' }]],
    [
      'a block that only a model may send',
      [{ type: 'tool_use', id: 'x', name: 'Bash', input: {} }],
    ],
  ])('with %s is ignored with a notice', async (_, content) => {
    const { send, end } = pipe();
    send(user('fine'), user(content));
    const { prompts, notices } = await end();
    expect(prompts).toHaveLength(1);
    expect(notices).toEqual([expect.stringMatching(/^Line 2 of stdin is not a prompt/)]);
  });
});

describe('a question', () => {
  test.each([
    ['yes', { behavior: 'allow' }, { behavior: 'allow' }],
    [
      'yes, with another input, for the session',
      { behavior: 'allow', updatedInput: { command: 'pwd' }, scope: 'session' },
      { behavior: 'allow', updatedInput: { command: 'pwd' }, scope: 'session' },
    ],
    ['no', { behavior: 'deny', message: 'No.' }, { behavior: 'deny', reason: 'No.' }],
    [
      'no, and stop',
      { behavior: 'deny', message: 'No.', interrupt: true },
      { behavior: 'deny', reason: 'No.', interrupt: true },
    ],
    ['no response', undefined, { behavior: 'deny' }],
    ['an input that is no object', { behavior: 'allow', updatedInput: 'rm' }, { behavior: 'deny' }],
  ])('is answered with %s', async (_, response, expected) => {
    const { control, send, end } = pipe();
    const asked = control.ask(question, never);
    send(answer(response));
    expect(await asked).toMatchObject(expected);
    expect(await end()).toMatchObject({ notices: [] });
  });

  test('is answered once', async () => {
    const { control, send, end } = pipe();
    const asked = control.ask(question, never);
    send(answer({ behavior: 'deny' }), answer({ behavior: 'allow' }));
    expect(await asked).toMatchObject({ behavior: 'deny' });
    expect((await end()).notices).toEqual(['Line 2 of stdin answers no open question.']);
  });

  test('is denied with the error of the driver if the driver fails', async () => {
    const { control, send, end } = pipe();
    const asked = control.ask(question, never);
    send({
      type: 'control_response',
      response: { subtype: 'error', request_id: 'q_1', error: 'The window was closed.' },
    });
    expect(await asked).toMatchObject({ behavior: 'deny', reason: 'The window was closed.' });
    await end();
  });

  test('is withdrawn, and the driver is notified', () => {
    const { control, written } = pipe();
    const interrupted = new AbortController();
    void control.ask(question, interrupted.signal);
    interrupted.abort();
    expect(written).toMatchObject([
      { type: 'control_request', request_id: 'q_1' },
      { type: 'control_cancel_request', request_id: 'q_1' },
    ]);
  });

  test('is rejected after the driver has closed its input', async () => {
    const { control, end } = pipe();
    const before = control.ask(question, never).catch(String);
    await end();
    expect(await before).toContain('could answer has closed');
    await expect(control.ask(question, never)).rejects.toThrow('could answer has closed');
  });
});

describe('a control request', () => {
  test('to interrupt is passed on and confirmed', async () => {
    const { send, end } = pipe();
    send({ type: 'control_request', request_id: 'r', request: { subtype: 'interrupt' } });
    expect(await end()).toMatchObject({
      interrupts: 1,
      written: [{ type: 'control_response', response: { subtype: 'success', request_id: 'r' } }],
    });
  });

  test('of an unknown type is answered with an error', async () => {
    const { send, end } = pipe();
    send({ type: 'control_request', request_id: 'r', request: { subtype: 'set_model' } });
    expect(await end()).toMatchObject({
      interrupts: 0,
      written: [{ response: { subtype: 'error', request_id: 'r' } }],
    });
  });
});

describe('lines', () => {
  test('are counted including empty lines and accept any line end', async () => {
    const { input, end } = pipe();
    input.write('\n\r\nnonsense\r\n');
    input.write('[]\nnull\n7');
    expect((await end()).notices).toEqual([
      'Line 3 of stdin is not JSON and was ignored.',
      'Line 4 of stdin is not a known message; it was ignored.',
      'Line 5 of stdin is not a known message; it was ignored.',
      'Line 6 of stdin is not a known message; it was ignored.',
    ]);
  });

  test('are not read after the shutdown, and open questions are rejected', async () => {
    const { control, ended, shutdown } = pipe();
    const asked = control.ask(question, never).catch(String);
    shutdown.abort();
    await ended;
    expect(await asked).toContain('could answer has closed');
  });

  test('may arrive byte by byte', async () => {
    const { input, end } = pipe();
    const bytes = Buffer.from(`${JSON.stringify(user('naïve 🪿'))}\n`);
    for (const byte of bytes) input.write(Buffer.from([byte]));
    expect(await end()).toMatchObject({ prompts: [[{ text: 'naïve 🪿' }]], notices: [] });
  });
});

describe('a question to a person', () => {
  const newSignal = () => new AbortController().signal;
  const asked: PersonQuestion = {
    id: 'q_1',
    agent: 'a_1',
    call: 'toolu_1',
    question: 'Which?',
    multiple: false,
    options: [{ label: 'Red', description: 'Warm.' }, { label: 'Blue' }],
  };

  test('is sent as a request and resolves with the choice', async () => {
    const { control, send, end, written } = pipe();
    const answered = control.choose(asked, newSignal());
    expect(written).toEqual([
      {
        type: 'control_request',
        request_id: 'q_1',
        request: {
          subtype: 'ask_user',
          question: 'Which?',
          multiple: false,
          tool_use_id: 'toolu_1',
          options: [{ label: 'Red', description: 'Warm.' }, { label: 'Blue' }],
        },
      },
    ]);
    send(answer({ chosen: ['Red'], text: 'But dark.' }));
    expect(await answered).toEqual({ chosen: ['Red'], text: 'But dark.' });
    expect((await end()).notices).toEqual([]);
  });

  test.each([
    ['no choice', {}],
    ['a ruling', { behavior: 'allow' }],
    ['labels that are no text', { chosen: [1] }],
    ['no response', undefined],
  ])('is not answered by %s', async (_, response) => {
    const { control, send, end } = pipe();
    const answered = control.choose(asked, newSignal());
    send(answer(response));
    await expect(answered).rejects.toThrow('The answer could not be understood.');
    await end();
  });

  test('can be refused with a reason', async () => {
    const { control, send, end } = pipe();
    const answered = control.choose(asked, newSignal());
    const response = { subtype: 'error', request_id: 'q_1', error: 'I am busy.' };
    send({ type: 'control_response', response });
    await expect(answered).rejects.toThrow('I am busy.');
    await end();
  });

  test('is withdrawn when the answer is no longer needed', () => {
    const { control, written } = pipe();
    const interrupt = new AbortController();
    void control.choose(asked, interrupt.signal);
    interrupt.abort();
    expect(written.at(-1)).toEqual({ type: 'control_cancel_request', request_id: 'q_1' });
  });

  test('is rejected if the driver closes its input before or after the question', async () => {
    const { control, end } = pipe();
    const before = control.choose(asked, newSignal());
    const reason = before.then(
      () => 'answered',
      (error: unknown) => String(error),
    );
    await end();
    expect(await reason).toContain('could answer has closed');
    await expect(control.choose({ ...asked, id: 'q_2' }, newSignal())).rejects.toThrow(
      'could answer has closed',
    );
  });
});

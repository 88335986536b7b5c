import { describe, expect, test } from 'vitest';
import { StalledError } from '../../src/model/stall-watch.js';
import { parseTokenOverrun, toModelFailure } from '../../src/model/to-model-failure.js';
import { isTransient, ModelFailure } from '../../src/protocol/model/model-port.js';
import { NO_USAGE } from '../../src/protocol/model/usage.js';

const partial = { messageId: null, usage: NO_USAGE, unfinishedText: null };

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly message?: string;
  readonly headers?: Record<string, string>;
}

/** An error as the SDK throws it. */
const thrown = ({ status, type, message = 'No.', headers = {} }: Answer) =>
  Object.assign(new Error(`${status ?? ''} ${message}`), {
    ...(status !== undefined && { status }),
    ...(type !== undefined && { type }),
    headers: new Headers(headers),
    error: { type: 'error', error: { type, message } },
  });

const failure = (answer: Answer) => toModelFailure(thrown(answer), partial, false);

describe('an error answer of the server', () => {
  test.each([
    [{ status: 400 }, 'rejected', false],
    [{ status: 401 }, 'unauthorised', false],
    [{ status: 403 }, 'unauthorised', false],
    [{ status: 404 }, 'rejected', false],
    [{ status: 408 }, 'server', true],
    [{ status: 409 }, 'server', true],
    [{ status: 413 }, 'prompt-too-long', false],
    [{ status: 422 }, 'rejected', false],
    [{ status: 429 }, 'rate-limited', true],
    [{ status: 500 }, 'server', true],
    [{ status: 502 }, 'server', true],
    [{ status: 503 }, 'server', true],
    [{ status: 529 }, 'overloaded', true],
    [
      { status: 400, message: 'prompt is too long: 9 tokens > 5 maximum' },
      'prompt-too-long',
      false,
    ],
    [{ status: 400, message: 'input length and `max_tokens` exceed…' }, 'prompt-too-long', false],
    [{ status: 500, type: 'overloaded_error' }, 'overloaded', true],
  ] as const)('%j is %s', (answer, kind, transient) => {
    const found = failure(answer);
    expect(found).toBeInstanceOf(ModelFailure);
    expect(found.kind).toBe(kind);
    expect(found.status).toBe(answer.status);
    expect(isTransient(found.kind)).toBe(transient);
  });

  test.each([
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate-limited'],
    ['api_error', 'server'],
    ['timeout_error', 'server'],
    ['request_too_large', 'prompt-too-long'],
    ['a_new_error', 'dropped'],
  ] as const)('in the middle of a stream, %s is %s', (type, kind) => {
    expect(toModelFailure(thrown({ type }), partial, true).kind).toBe(kind);
  });

  test('is quoted, with advice about credentials', () => {
    expect(failure({ status: 529, message: 'Overloaded' }).message).toBe(
      'The model API answered with an error (HTTP 529): Overloaded.',
    );
    expect(failure({ status: 401, message: 'invalid x-api-key.' }).message).toBe(
      'The model API refused the credentials (HTTP 401): invalid x-api-key. Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.',
    );
  });

  test('is quoted in part if it is long', () => {
    expect(failure({ status: 502, message: 'x'.repeat(100_000) }).message.length).toBeLessThan(700);
  });

  test.each<[Record<string, string>, number | null]>([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': '' }, null],
    [{}, null],
  ])('with the headers %j requests a delay of %s ms', (headers, retryAfterMs) => {
    expect(failure({ status: 429, headers }).retryAfterMs).toBe(retryAfterMs);
  });

  test('may name a date for the retry', () => {
    const later = failure({
      status: 429,
      headers: { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    });
    expect(later.retryAfterMs).toBeGreaterThan(1_000_000);
  });
});

describe('a connection error', () => {
  const refused = new TypeError('Connection error.', {
    cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
  });

  test('is unreachable if the connection was refused', () => {
    const found = toModelFailure(refused, partial, false);
    expect([found.kind, found.message]).toEqual([
      'unreachable',
      'The model could not be reached: connect ECONNREFUSED 127.0.0.1:1. Check the network, the proxy and ANTHROPIC_BASE_URL.',
    ]);
  });

  test('is dropped if the connection was reset in the middle', () => {
    const found = toModelFailure(new Error('read ECONNRESET'), partial, true);
    expect([found.kind, found.message]).toEqual([
      'dropped',
      'The connection to the model was cut: read ECONNRESET.',
    ]);
  });

  test('is stalled if any cause is a StalledError', () => {
    const stalled = new Error('Connection error.', { cause: new StalledError(60_000) });
    const found = toModelFailure(stalled, partial, true);
    expect([found.kind, found.message]).toEqual([
      'stalled',
      'The model has sent nothing for 60 seconds.',
    ]);
  });

  test('is a failure for any thrown value', () => {
    expect(toModelFailure('odd', partial, false).kind).toBe('unreachable');
    expect(toModelFailure(null, partial, false).kind).toBe('unreachable');
    expect(toModelFailure(undefined, partial, true).kind).toBe('dropped');
  });

  test('is returned unchanged if it is a ModelFailure', () => {
    const known = new ModelFailure('rejected', 'No.');
    expect(toModelFailure(known, partial, true)).toBe(known);
  });
});

test.each([
  ['prompt is too long: 213423 tokens > 200000 maximum', 13_423],
  ['prompt is too long: 5 tokens > 5 maximum', null],
  ['input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease', 22_000],
  ['prompt is too long', null],
])('the token overrun in "%s" is %s', (message, gap) => {
  expect(parseTokenOverrun(message)).toBe(gap);
});

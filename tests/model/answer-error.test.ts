import { APIError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { AnswerError } from '../../src/model/answer-error.js';

const RATE_LIMIT = '{"type":"error","error":{"type":"rate_limit_error","message":"Slower."}}';

describe('an error answer', () => {
  test.each([
    [429, RATE_LIMIT],
    [500, '{"message":"Broken."}'],
    [500, '{"message":{"why":1}}'],
    [502, '<h1>Bad gateway</h1>'],
    [503, ''],
    [400, 'null'],
    [400, '"text"'],
    [400, '{"error":null}'],
    [404, '[]'],
  ])('with status %i has the fields of the SDK for %s', (status, page) => {
    let body: object | undefined;
    try {
      body = JSON.parse(page) as object;
    } catch {
      body = undefined;
    }
    const text = body === undefined ? page : undefined;
    const theirs = APIError.generate(status, body, text, new Headers({ 'retry-after': '3' }));
    const ours = new AnswerError(status, page, { 'retry-after': '3' });
    const { message, type, error } = theirs;
    expect(ours).toMatchObject({ status, message, type, error });
    expect(ours.headers.get('retry-after')).toBe('3');
    expect(ours.headers.get('retry-after-ms')).toBeNull();
  });

  test.each([RATE_LIMIT, 'not JSON', '', '{}'])(
    'in a stream has the fields of the SDK for %j',
    (data) => {
      let body: object;
      try {
        body = JSON.parse(data) as object;
      } catch {
        body = { message: data };
      }
      const { message, type, error } = new APIError(undefined, body, undefined, new Headers());
      expect(new AnswerError(undefined, data, {})).toMatchObject({
        status: undefined,
        message,
        type,
        error,
      });
    },
  );
});

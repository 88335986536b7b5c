import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact } from '../../src/policy/redaction.js';

// Assembled here, so that no scanner takes this file for a leak.
const body = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6';
const pem = (kind: string, text: string) =>
  `-----BEGIN ${kind}-----\n${text}\n-----END ${kind}-----`;

describe('redaction', () => {
  test.each([
    ['an Anthropic key', `sk-ant-api03-${body}`],
    ['another key', `sk-proj-${body}`],
    ['a GitHub token', `ghp_${body}`],
    ['an OAuth token', `gho_${body}`],
    ['a fine-grained token', `github_pat_${body}_${body}`],
    ['an AWS key id', `AKIA${'ABCD1234EFGH5678'}`],
    ['a bearer header', `Authorization: Bearer ${body}`],
    ['a basic header', `authorization: basic ${body}==`],
    ['an API key header', `x-api-key: ${body}`],
    ['a token of three parts', `eyJ${body}.${body}.${body}`],
    ['a private key', pem('RSA PRIVATE KEY', body)],
    ['a private key in JSON', JSON.stringify(pem('PRIVATE KEY', body))],
    ['a private key that was cut off', `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n${body}`],
    ['a URL with a password', `redis://user:${body}@host:6379/0`],
    ['a URL with only a password', `rediss://:p@${body}@host`],
  ])('removes %s and keeps what is around it', (_, secret) => {
    const clean = redact(`before ${secret} "after"`);
    expect(clean).not.toContain(body);
    expect(clean).not.toContain('ABCD1234EFGH5678');
    expect(clean).toMatch(/^before .*\[redacted\].*"after"$/s);
  });

  test.each([
    'the task-oriented-programming-paradigm of risk-assessment',
    'sk-learn-compatible-estimators-are-fine',
    'use bearer authentication here',
    'http://localhost:8080/path?user=a@b.c',
    'git@github.com:a/b.git',
    pem('PUBLIC KEY', body),
    'npm_config_registry and npm_package_version_number',
  ])('leaves alone what is no secret: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('changes nothing more the second time', () => {
    const bits = fc.constantFrom(
      ...[
        'sk-ant-',
        'sk-',
        'ghp_',
        'AKIA',
        'bearer ',
        '://',
        ':',
        '@',
        body,
        '\n',
        ' ',
        '[redacted]',
      ],
      ...[
        '-----BEGIN PRIVATE KEY-----',
        '-----END PRIVATE KEY-----',
        'redis',
        'eyJ',
        '.',
        'x-api-key: ',
      ],
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 30 }), (parts) => {
        const once = redact(parts.join(''));
        expect(redact(once)).toBe(once);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    '-----BEGIN PRIVATE KEY-----',
    'a://b:c',
    '-eyJaaaaaaaa',
    'sk-ant-',
    'bearer ',
    'authorization: ',
    'aaaaaaaa',
    '-----BEGIN ',
    'x-api-key=   ',
  ])('reads a megabyte of "%s" without getting stuck', (bit) => {
    // A quadratic pattern would need longer than a test may take.
    expect(redact(bit.repeat(Math.ceil(2 ** 20 / bit.length))).length).toBeGreaterThan(0);
  });
});

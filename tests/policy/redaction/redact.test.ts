import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, redact, secretValues } from '../../../src/policy/redaction/redact.js';
import { redactedStream } from '../../../src/policy/redaction/redacted-stream.js';

// Assembled from parts, so that secret scanners do not report this file.
const body = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6';
const pem = (kind: string, text: string) =>
  `-----BEGIN ${kind}-----\n${text}\n-----END ${kind}-----`;

describe('redaction', () => {
  test.each([
    ['an Anthropic key', `sk-ant-api03-${body}`],
    ['another API key', `sk-proj-${body}`],
    ['a GitHub token', `ghp_${body}`],
    ['an OAuth token', `gho_${body}`],
    ['a fine-grained token', `github_pat_${body}_${body}`],
    ['an AWS key id', `AKIA${'ABCD1234EFGH5678'}`],
    ['a bearer header', `Authorization: Bearer ${body}`],
    ['a basic header', `authorization: basic ${body}==`],
    ['an API key header', `x-api-key: ${body}`],
    ['a JSON web token', `eyJ${body}.${body}.${body}`],
    ['a private key', pem('RSA PRIVATE KEY', body)],
    ['a private key in JSON', JSON.stringify(pem('PRIVATE KEY', body))],
    ['a truncated private key', `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n${body}`],
    ['a URL with a password', `redis://user:${body}@host:6379/0`],
    ['a URL with only a password', `rediss://:p@${body}@host`],
    ['a GitLab token', `glpat-${body}`],
    ['a Slack token', `xoxb-123-${body}`],
    ['a Google key', `AIza${body}`],
    ['a Google access token', `ya29.${body}`],
    ['an npm token', `npm_${body}a1b2`],
    ['a Stripe key', `sk_live_${body}`],
    ['an unsigned JSON web token', `eyJ${body}.${body}.`],
    ['an AWS secret', `aws_secret_access_key = ${body}/abc+12`],
    ['an AWS secret in JSON', `{"SecretAccessKey": "${body}"}`],
    ['a password in a settings file', `DB_PASSWORD=${body}`],
    ['a quoted token', `token: '${body}'`],
    ['a key in escaped JSON', JSON.stringify(JSON.stringify({ api_key: body }))],
    ['a hexadecimal key', `DATADOG_API_KEY=${'0a1b2c3d'.repeat(4)}${body}`],
    ['a password with special characters', `password: "p@ss${body}"`],
    [
      'a key after an escaped line break',
      JSON.stringify(`\nsk-proj-${body}\nghp_${body}\neyJ${body}.${body}.${body}\nbearer ${body}`),
    ],
    ['a login of curl', `curl -u ada:${body} https://x`],
    [
      'a key in a numbered listing',
      `1\t-----BEGIN RSA PRIVATE KEY-----\n2\t${body}\n3\t${body}`
        .replaceAll('\\t', '\t')
        .replaceAll('\\n', '\n'),
    ],
    [
      'a key in search results',
      `a.txt:1:-----BEGIN RSA PRIVATE KEY-----\na.txt-2-${body}\na.txt-3-${body}`.replaceAll(
        '\\n',
        '\n',
      ),
    ],
  ])('removes %s and keeps the text around it', (_, secret) => {
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
    'npm_config_python3_executable_path_of_the_machine1',
    'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'id: 550e8400-e29b-41d4-a716-446655440000',
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4',
    'const token = await readToken(path, options2);',
    'token: string | undefined; password: z.string().min(8)',
    'apiKey: process.env.ANTHROPIC_API_KEY2',
    'secret: config.auth2.secretName',
    `password=\${DB_PASSWORD_1234}`,
    'keyboard: qwerty, monkey: 12345678, the key: value',
    'tokens: 1234567890',
    'token_path: /home/ada/v2/tokens/a1b2c3',
    'sk-circle-fade-dot12 and sk-folding-cube-4',
    'image: registry.example.com/app@sha256:0a1b2c3d',
  ])('keeps text without secrets: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  test('is idempotent', () => {
    const bits = fc.constantFrom(
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
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      'redis',
      'eyJ',
      '.',
      'x-api-key: ',
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
    'password=',
    'token: a1',
    'key',
    '-u a:b ',
    'ya29.',
    '-----BEGIN PRIVATE KEY-----\n',
    'https://',
    'eyJaaaaaaaaa.',
    'SG.aaaaaaaaaaaaaaaa.',
  ])('reads a megabyte of "%s" in linear time', (bit) => {
    // A quadratic pattern would exceed the time limit of the test.
    expect(redact(bit.repeat(Math.ceil(2 ** 20 / bit.length))).length).toBeGreaterThan(0);
  });
});

describe('redaction of known values', () => {
  const known = secretValues({
    ANTHROPIC_API_KEY: 'plain words/1',
    PATH: '/usr/bin:12',
    X_TOKEN: 'short',
  });

  test('hides secret environment values in any encoding', () => {
    const hide = createRedactor(known);
    expect(hide('a plain words/1 b')).toBe('a [redacted] b');
    expect(hide('q=plain%20words%2F1&')).toBe('q=[redacted]&');
    expect(hide('short /usr/bin:12')).toBe('short /usr/bin:12');
  });

  test('hides a value with quotes inside JSON', () => {
    const value = 'a"b\\c d"e';
    expect(createRedactor([value])(JSON.stringify({ value }))).toBe('{"value":"[redacted]"}');
  });
});

describe('redaction of a stream', () => {
  const known = ['words of our own'];
  const hide = createRedactor(known);
  const redactPieces = (pieces: readonly string[]) => {
    const stream = redactedStream(hide, known);
    return [...pieces.map((piece) => stream.push(piece)), stream.end()];
  };
  const secrets = [
    `sk-ant-${body}`,
    `ghp_${body}`,
    `Authorization: Bearer ${body}`,
    `DB_PASSWORD=${body}`,
    `redis://a:${body}@host`,
    `x-api-key: ${body}`,
    `"access_key": "${body}"`,
    pem('RSA PRIVATE KEY', `${body}\n${body}`),
    'words of our own',
  ];

  test('hides secrets that are split across pieces at any position', () => {
    const text = fc
      .array(fc.constantFrom(...secrets, 'plain text', '\n', ' ', 'a\n'), { maxLength: 8 })
      .map((parts) => parts.join(' '));
    const cuts = fc.array(fc.nat(400), { maxLength: 12 });
    fc.assert(
      fc.property(text, cuts, (whole, at) => {
        const places = [...new Set([0, ...at, whole.length])].filter(
          (place) => place <= whole.length,
        );
        places.sort((a, b) => a - b);
        const pieces = places.map((from, index) => whole.slice(from, places[index + 1]));
        const shown = redactPieces(pieces).join('');
        expect(shown).not.toContain(body);
        expect(shown).not.toContain('words of our own');
      }),
      { numRuns: 500 },
    );
  });

  test('passes other text immediately', () => {
    expect(redactPieces(['Listening on 3000', ' and more\n', '7'])).toEqual([
      'Listening on 3000',
      ' and more\n',
      '7',
      '',
    ]);
  });

  test('holds back a bounded part of an endless line', () => {
    const stream = redactedStream(redact);
    const shown = stream.push(`token ${'a '.repeat(200_000)}`);
    expect(shown.length).toBeGreaterThan(390_000);
  });

  test('accepts a megabyte in small pieces in linear time', () => {
    const stream = redactedStream(hide, known);
    let length = 0;
    for (let index = 0; index < 4_000; index += 1)
      length += stream.push('key=abc '.repeat(32)).length;
    expect(length).toBeGreaterThan(900_000);
  });
});

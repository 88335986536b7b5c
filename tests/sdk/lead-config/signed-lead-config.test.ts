import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type LeadConfig,
  readLeadConfig,
  signLeadConfig,
} from '../../../src/sdk/lead-config/signed-lead-config.js';

const person = generateKeyPairSync('ed25519');
const publicKey = person.publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');

const TERMS: LeadConfig = {
  v: 2,
  session: 's_1',
  createdAt: 100,
  epoch: 3,
  edition: 2,
  mode: 'default',
  host: 'here',
  cwd: '/repo',
  flags: { model: 'm' },
};

const read = (bytes: Uint8Array) => readLeadConfig(bytes, 's_1', [publicKey]);

/** As another version might have signed it. */
const signed = (terms: object) => signLeadConfig(terms as LeadConfig, person.privateKey);

const sentence = (which: string) =>
  `Session s_1 was started with ${which} version of skein than this worker has: both need the same one.`;

describe('how a lead was started', () => {
  test('is read as it was signed', () => {
    expect(read(signed(TERMS))).toEqual(TERMS);
  });

  test.each([
    ['an older', { v: 1, session: 's_1', flags: {} }],
    ['an older', { ...TERMS, v: 1 }],
    ['a newer', { ...TERMS, v: 3, mood: 'good' }],
    ['a newer', { v: 12 }],
    ['another', { ...TERMS, mood: 'good' }],
    ['another', { ...TERMS, flags: { ...TERMS.flags, forbidAll: true } }],
    ['another', { ...TERMS, mode: 'careful' }],
  ])('is refused where %s version has said it', (which, terms) => {
    expect(() => read(signed(terms))).toThrow(sentence(which));
  });

  test('is refused as damaged where no version could have said it', () => {
    for (const text of ['', '{', 'null', '{}', '{"v":2}', '{"v":"2","signature":"x"}']) {
      expect(() => read(Buffer.from(text))).toThrow(
        'What session s_1 was started with is damaged.',
      );
    }
  });

  test('is refused as unknown where somebody has added to it', () => {
    const text = Buffer.from(signed(TERMS)).toString();
    const more = { ...JSON.parse(text), flags: { ...TERMS.flags, bare: true } };
    expect(() => read(Buffer.from(JSON.stringify(more)))).toThrow(/whose key this worker/);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isPrivateAddress,
  isPrivateHost,
  listsHost,
} from '../../../src/host/web/is-private-address.js';

/** First and last address of every network that is not public. */
const PRIVATE = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.0.0',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.168.0.0',
  '192.168.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.255',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.0',
  '255.255.255.255',
  '100.100.100.200',
  '168.63.129.16',
  '::',
  '::1',
  'fe80::1',
  'febf::1',
  'fc00::',
  'fdff::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:c0a8:101::1',
  '2001:db8::1',
  '2001::1',
  'fe80::1%eth0',
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '168.63.129.17',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '64:ff9b::808:808',
  '2002:808:808::1',
];

describe('an address', () => {
  test.each(PRIVATE)('of this machine or a private network is private: %s', (it) => {
    expect(isPrivateAddress(it)).toBe(true);
  });

  test.each(PUBLIC)('of the internet is public: %s', (it) => {
    expect(isPrivateAddress(it)).toBe(false);
  });

  test.each(['', 'localhost', '1.2.3', '1.2.3.4.5', 'nonsense'])(
    'that is invalid is private, because its target is unknown: "%s"',
    (it) => {
      expect(isPrivateAddress(it)).toBe(true);
    },
  );
});

describe('a host', () => {
  /** All spellings of an IPv4 address in a URL. */
  const spelling = fc
    .tuple(
      fc.constantFrom('127.0.0.1', '10.1.2.3', '169.254.169.254', '192.168.1.1', '0.0.0.0'),
      fc.constantFrom('dotted', 'decimal', 'hex', 'octal', 'mixed', 'mapped', 'short', 'encoded'),
    )
    .map(([address, way]) => ({ address, way, host: spell(address, way) }));

  const spell = (address: string, way: string): string => {
    const bytes = address.split('.').map(Number);
    const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    switch (way) {
      case 'decimal':
        return String(number);
      case 'hex':
        return `0x${number.toString(16)}`;
      case 'octal':
        return bytes.map((byte) => `0${byte.toString(8)}`).join('.');
      case 'mixed':
        return `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`;
      case 'mapped':
        return `[::ffff:${address}]`;
      case 'short':
        return `${a}.${number - a * 2 ** 24}.`;
      case 'encoded':
        return address.replaceAll('1', '%31').replaceAll('0', '\u{ff10}');
      default:
        return address;
    }
  };

  test('is private in every spelling of its address', () => {
    fc.assert(
      fc.property(spelling, fc.constantFrom('http', 'https'), ({ host }, scheme) => {
        expect(isPrivateHost(new URL(`${scheme}://${host}/`).hostname)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('with an IPv4 address is as private as the same address inside IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const tail = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const isPrivate = isPrivateAddress(address);
        expect(isPrivateAddress(`64:ff9b::${tail}`)).toBe(isPrivate);
        expect(isPrivateAddress(`2002:${tail}::1`)).toBe(isPrivate);
        expect(isPrivateAddress(`::ffff:${tail}`)).toBe(true);
      }),
    );
  });

  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'a.localhost',
    'printer.local',
    'wiki',
    'metadata.google.internal',
    'router.home.arpa',
    '[::1]',
    '[fe80::1]',
  ])('of this machine or network is private by its name: %s', (it) => {
    expect(isPrivateHost(it)).toBe(true);
  });

  test.each(['example.com', 'localhost.example.com', 'local.com', '8.8.8.8', '[2606:4700::1]'])(
    'of the internet is public: %s',
    (it) => {
      expect(isPrivateHost(it)).toBe(false);
    },
  );
});

describe('an allow list of hosts', () => {
  test.each([
    ['localhost', 'http://localhost:3000/', true],
    ['localhost:3000', 'http://localhost:3000/', true],
    ['localhost:3000', 'http://localhost:3001/', false],
    ['LocalHost', 'http://localhost./', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
    ['127.0.0.1', 'http://localhost/', false],
    ['localhost:80', 'http://localhost/', true],
    ['localhost:443', 'https://localhost/', true],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['::1', 'http://[::1]:8080/', true],
    ['[::1]:8080', 'http://[::1]/', false],
    ['example.com', 'http://evil.example.com/', false],
    ['', 'http://localhost/', false],
  ])('with %s contains %s: %s', (entry, address, expected) => {
    expect(listsHost([entry], new URL(address))).toBe(expected);
  });
});

/** Creates a self-signed certificate for localhost, because Node can read certificates but not create them. */
import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  if (length < 128) return Buffer.concat([Buffer.from([tag, length]), body]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), body]);
};

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const octets = (part: Buffer) => der(0x04, part);
const bits = (part: Buffer) => der(0x03, Buffer.from([0]), part);
const name = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const text = (tag: number, value: string) => der(tag, Buffer.from(value));
const number = (...bytes: readonly number[]) => der(0x02, Buffer.from(bytes));

const ECDSA_WITH_SHA256 = sequence(name('2a8648ce3d040302'));
const COMMON_NAME = name('550403');
const SUBJECT_ALT_NAME = name('551d11');
const BASIC_CONSTRAINTS = name('551d13');
const TRUE = der(0x01, Buffer.from([0xff]));

export const selfSigned = (): { key: string; cert: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = sequence(der(0x31, sequence(COMMON_NAME, text(0x0c, 'localhost'))));
  const hosts = sequence(text(0x82, 'localhost'), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = sequence(
    sequence(SUBJECT_ALT_NAME, octets(hosts)),
    sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(TRUE))),
  );
  const body = sequence(
    der(0xa0, number(2)),
    number(1),
    ECDSA_WITH_SHA256,
    subject,
    sequence(text(0x17, '250101000000Z'), text(0x17, '491231235959Z')),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const cert = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, privateKey)));
  const lines = cert.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
};

/** Asks the server to say why it could not read a prompt from its cache. */
import type { BodyHead } from './request-body.js';

/** The same head with the question ahead of it. `previous` is the id of the last answer, if there was one. */
export const withDiagnostics = (head: BodyHead, previous: string | null): BodyHead => {
  const question = `{"diagnostics":${JSON.stringify({ previous_message_id: previous })},`;
  return { ...head, bytes: Buffer.concat([Buffer.from(question), head.bytes.subarray(1)]) };
};

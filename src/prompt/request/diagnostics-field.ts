/** Asks the server to say why it could not read a prompt from its cache. */
import type { BodyHead } from './request-body.js';

/** The same head with the question ahead of it. `previous` is the id of the last answer, if there was one. */
export const withDiagnostics = (head: BodyHead, previous: string | null): BodyHead => ({
  ...head,
  question: Buffer.from(`{"diagnostics":${JSON.stringify({ previous_message_id: previous })},`),
});
